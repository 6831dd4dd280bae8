import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ApiClient, CallOptions } from '../client';
import { isDiskFault, ServiceFailure } from '../process';

/**
 * Save what an address answers. The file has its name when all of it is there.
 *
 * @throws ServiceFailure when it was cut off.
 */
export async function saveDownload(
  api: ApiClient,
  from: URL,
  path: string,
  options: Pick<CallOptions, 'headers'> = {},
): Promise<void> {
  const draft = `${path}.${randomUUID().slice(0, 8)}.part`;
  const { body } = await api.open(from, options);
  try {
    await pipeline(body === null ? Readable.from([]) : Readable.fromWeb(body), createWriteStream(draft));
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    if (isDiskFault(error)) throw error;
    throw new ServiceFailure('The download was cut off.', {
      code: 'download_cut',
      cause: error,
      cure: 'Run it again.',
    });
  }
}
