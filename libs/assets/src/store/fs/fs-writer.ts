import type { FileHandle } from 'node:fs/promises';
import type { StageOptions } from '../blob-store';
import type { ByteMeter } from '../byte-meter';
import { withFsFaults } from './fs-fault';

/** Written at once; while one batch is being written the next one fills. */
const BATCH_BYTES = 512 * 1024;
/** The largest blob that needs no file before it is placed: most texts are smaller, and so are many outputs stored before. */
export const HELD_BYTES = 64 * 1024;

/** Where metered bytes are written to. */
export interface MeteredFile {
  /** Called once, with the first bytes that are written. */
  open: () => Promise<FileHandle>;
  /** A stream of at most so many bytes is returned instead of written. Null: every stream is written, an empty one too. */
  heldBytes: number | null;
}

/**
 * Write a stream to a file, and meter it. When this settles, all writes to the file have ended and it is closed.
 *
 * @returns the bytes where they were too few for a file, which was not opened then; else null.
 */
export async function writeMetered(
  chunks: AsyncIterable<Buffer>,
  { heldBytes, open }: MeteredFile,
  meter: ByteMeter,
  cover?: StageOptions['cover'],
): Promise<Buffer | null> {
  let file: FileHandle | null = null;
  let batch: Buffer[] = [];
  let batchSize = 0;
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const chunk of chunks) {
      meter.add(chunk);
      const covered = cover?.(meter.sizeBytes) ?? null;
      if (covered !== null) await covered;
      batch.push(chunk);
      batchSize += chunk.length;
      if (batchSize < BATCH_BYTES) continue;
      await writing;
      file ??= await withFsFaults(open);
      writing = writeAll(file, batch, batchSize);
      // Awaited below; until then a failure must not count as unobserved.
      writing.catch(() => undefined);
      batch = [];
      batchSize = 0;
    }
    await writing;
    // A copy, so that a few bytes do not keep the memory that they were read into.
    if (file === null && heldBytes !== null && batchSize <= heldBytes) return Buffer.concat(batch);
    file ??= await withFsFaults(open);
    await writeAll(file, batch, batchSize);
    return null;
  } finally {
    await writing.catch(() => undefined);
    await file?.close();
  }
}

/** Write all bytes to a file, in one call where the disk takes them so. */
export async function writeAll(file: FileHandle, batch: Buffer[], size: number): Promise<void> {
  if (size === 0) return;
  await withFsFaults(async () => {
    const { bytesWritten } = await file.writev(batch);
    // A full disk accepts a part of the bytes, and reports the error only at the next write.
    if (bytesWritten < size) await file.appendFile(Buffer.concat(batch).subarray(bytesWritten));
  });
}
