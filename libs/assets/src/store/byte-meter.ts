import type { Readable } from 'node:stream';
import { Blake3Hasher } from '@napi-rs/blake-hash';
import { Refusal } from '@millrace/contracts';
import type { BytesDigest } from './blob-store';
import { youngGarbage } from './young-garbage';

/** Bytes kept of a stream's beginning. */
export const HEAD_BYTES = 4_096;

/** Counts and hashes bytes as they pass: about 20 µs for a chunk of 64 KiB, so it runs on the event loop. */
export class ByteMeter {
  private readonly hasher = new Blake3Hasher();
  private readonly headParts: Buffer[] = [];
  private headSize = 0;
  private countedBytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** @throws Refusal `payload_too_large` when these bytes make it too many. */
  add(chunk: Buffer): void {
    this.countedBytes += chunk.length;
    if (this.countedBytes > this.maxBytes) throw fileTooLarge(this.maxBytes);
    this.hasher.update(chunk);
    youngGarbage.add(chunk.length);
    if (this.headSize < HEAD_BYTES && chunk.length > 0) {
      // A copy, so that a few bytes do not keep a whole chunk in memory.
      const part = Buffer.from(chunk.subarray(0, HEAD_BYTES - this.headSize));
      this.headParts.push(part);
      this.headSize += part.length;
    }
  }

  /** Bytes that have passed so far. */
  get sizeBytes(): number {
    return this.countedBytes;
  }

  finish(): BytesDigest {
    const hash = `blake3:${this.hasher.digest('hex')}`;
    return { hash, sizeBytes: this.countedBytes, head: Buffer.concat(this.headParts) };
  }
}

/** Read a stream to its end. @returns `blake3:<hex>`. @throws what the stream fails with. */
export async function hashOf(bytes: Readable): Promise<string> {
  const meter = new ByteMeter(Number.MAX_SAFE_INTEGER);
  for await (const chunk of bytes as AsyncIterable<Buffer>) meter.add(chunk);
  return meter.finish().hash;
}

export function fileTooLarge(maxBytes: number): Refusal {
  return new Refusal('payload_too_large', `The file is larger than ${maxBytes} bytes, which is the limit.`);
}
