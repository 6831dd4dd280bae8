import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { whenClosed } from '@millrace/platform';
import { zipOf, type ZipEntry } from './zip-stream';

/**
 * Send a ZIP archive as one stream. One file is read at a time, as fast as the client takes it. A client that stops reading ends it; an
 * error after its begin cuts it off, so that it cannot be opened.
 *
 * @param files the next one is asked for when the one before has been read.
 * @throws what a file, or the next one, failed with. A client that is gone is no failure.
 */
export async function sendZip(response: Response, files: AsyncIterable<ZipEntry>): Promise<void> {
  if (response.destroyed) return;
  const gone = new AbortController();
  whenClosed(response, () => gone.abort());
  const faults: unknown[] = [];
  const bytes = async function* (): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* zipOf(files, gone.signal);
    } catch (error) {
      // Without its client a file that is being read fails as well.
      if (!response.destroyed) faults.push(error);
      throw error;
    }
  };
  // What is left of its errors are the client's.
  await pipeline(bytes, response).catch(() => undefined);
  if (faults.length > 0) throw faults[0];
}
