import type { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { ZipFile } from 'yazl';

/** A file of an archive. */
export interface ZipEntry {
  path: string;
  mtime: Date;
  body: Readable;
}

/** Adds a file, and resolves when its bytes have been read. @throws when the client is gone. */
export type AddEntry = (entry: ZipEntry) => Promise<void>;

/**
 * Send a ZIP archive as one stream. One file is read at a time, as fast as the client takes it; nothing is compressed, since pictures and
 * sounds are already. A client that stops reading ends it; an error after its begin cuts it off, so that it cannot be opened.
 *
 * @param fill adds the files, one after the other.
 */
export async function sendZip(response: Response, fill: (add: AddEntry) => Promise<void>): Promise<void> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const gone = new AbortController();
  const { signal } = gone;
  response.once('close', () => gone.abort());
  const add: AddEntry = async ({ path, mtime, body }) => {
    try {
      signal.throwIfAborted();
      zip.addReadStream(body, path, { compress: false, mtime });
      await finished(body, { signal });
    } finally {
      body.destroy();
    }
  };
  const filling = fill(add)
    .then(() => zip.end())
    .catch((error: unknown) => output.destroy(error as Error));
  zip.on('error', (error: Error) => output.destroy(error));
  try {
    await pipeline(output, response);
  } catch (error) {
    if (!signal.aborted && !response.destroyed) throw error;
  } finally {
    gone.abort();
    await filling;
  }
}
