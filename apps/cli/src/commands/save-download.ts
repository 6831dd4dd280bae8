import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ApiClient, CallOptions } from '../client';
import { interruptible, Interrupted, isDiskFault, reasonOf, SaveFailure, ServiceFailure } from '../process';
import type { CommandContext } from './command-context';

/**
 * Save what an address answers. The file has its name when all of it is there; nothing is left of one that is not.
 *
 * @throws {ServiceFailure} when it was cut off.
 * @throws {SaveFailure} when the file cannot be written.
 * @throws {Interrupted} at Ctrl-C.
 */
export function saveDownload(
  { host }: Pick<CommandContext, 'host'>,
  api: ApiClient,
  from: URL,
  path: string,
  options: Pick<CallOptions, 'headers'> = {},
): Promise<void> {
  const draft = `${path}.${randomUUID().slice(0, 8)}.part`;
  return interruptible(host, async (signal) => {
    const { body } = await api.open(from, { ...options, signal });
    try {
      await pipeline(body === null ? Readable.from([]) : Readable.fromWeb(body), createWriteStream(draft), { signal });
      await rename(draft, path);
    } catch (error) {
      // What keeps the file from being written may keep it from being removed, too.
      await rm(draft, { force: true }).catch(() => undefined);
      if (signal.aborted) throw new Interrupted('Interrupted; nothing was saved.');
      throw cutOff(error);
    }
  });
}

/** What an answer's body that ended early is to the reader. */
export function cutOff(error: unknown): SaveFailure | ServiceFailure {
  if (isDiskFault(error))
    return new SaveFailure(`The file cannot be written: ${reasonOf(error)}.`, {
      cause: error,
      cure: 'Make room there, or save it elsewhere.',
    });
  return new ServiceFailure('The download was cut off.', {
    code: 'download_cut',
    cause: error,
    cure: 'Run it again.',
  });
}
