import { createReadStream } from 'node:fs';
import { Blake3Hasher } from '@napi-rs/blake-hash';

const READ_BYTES = 1024 * 1024;

/**
 * The content hash of a file as the service spells it: `blake3:<hex>`. Memory use does not grow with the file.
 *
 * @param onRead called with the bytes that have been read.
 */
export async function hashFile(
  path: string,
  signal?: AbortSignal,
  onRead: (bytes: number) => void = () => undefined,
): Promise<string> {
  const hasher = new ContentHash();
  const bytes: AsyncIterable<Uint8Array> = createReadStream(path, { signal, highWaterMark: READ_BYTES });
  for await (const chunk of bytes) {
    hasher.update(chunk);
    onRead(hasher.sizeBytes);
  }
  return hasher.digest();
}

/** A content hash that is being computed. */
export class ContentHash {
  private readonly hasher = new Blake3Hasher();
  sizeBytes = 0;

  update(chunk: Uint8Array): void {
    this.hasher.update(chunk);
    this.sizeBytes += chunk.byteLength;
  }

  digest(): string {
    return `blake3:${this.hasher.digest('hex')}`;
  }
}
