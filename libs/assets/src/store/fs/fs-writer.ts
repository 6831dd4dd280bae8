import type { FileHandle } from 'node:fs/promises';
import type { StageOptions } from '../blob-store';
import type { ByteMeter } from '../byte-meter';
import { withFsFaults } from './fs-fault';

/** Written at once; while one batch is being written the next one fills. */
const BATCH_BYTES = 512 * 1024;

/** Write a stream to a file, and meter it. When this settles, all writes to the file have ended. */
export async function writeMetered(
  chunks: AsyncIterable<Buffer>,
  file: FileHandle,
  meter: ByteMeter,
  cover?: StageOptions['cover'],
): Promise<void> {
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
      writing = writeAll(file, batch, batchSize);
      // Awaited below; until then a failure must not count as unobserved.
      writing.catch(() => undefined);
      batch = [];
      batchSize = 0;
    }
  } catch (error) {
    await writing.catch(() => undefined);
    throw error;
  }
  await writing;
  await writeAll(file, batch, batchSize);
}

async function writeAll(file: FileHandle, batch: Buffer[], size: number): Promise<void> {
  if (size === 0) return;
  await withFsFaults(async () => {
    const { bytesWritten } = await file.writev(batch);
    // A full disk accepts a part of the bytes, and reports the error only at the next write.
    if (bytesWritten < size) await file.appendFile(Buffer.concat(batch).subarray(bytesWritten));
  });
}
