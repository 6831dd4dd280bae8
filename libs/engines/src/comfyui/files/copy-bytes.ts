import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** Few steps for a large file, and little memory. */
const STEP_BYTES = 1024 * 1024;

/**
 * Copies a file, which may take minutes, until the signal aborts: `copyFile` cannot be ended. What was written by then stays.
 *
 * @throws what the disk says: `EEXIST` where there is a file already; AbortError
 */
export async function copyBytes(from: string, to: string, signal: AbortSignal): Promise<void> {
  const source = createReadStream(from, { highWaterMark: STEP_BYTES });
  await pipeline(source, createWriteStream(to, { flags: 'wx', highWaterMark: STEP_BYTES }), { signal });
}
