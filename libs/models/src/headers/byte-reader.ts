import { HeaderError } from './model-header';

/** Reads little-endian values one after the other. What would be behind the end is refused, before anything is allocated. */
export class ByteReader {
  private at = 0;

  constructor(
    private readonly bytes: Buffer,
    /** What is said of a file that ends before its header. */
    private readonly cut: string,
  ) {}

  get position(): number {
    return this.at;
  }

  u32(): number {
    return this.bytes.readUInt32LE(this.take(4));
  }

  /** @throws HeaderError for a number beyond 2^53: nothing has such a size. */
  u64(): number {
    const value = Number(this.bytes.readBigUInt64LE(this.take(8)));
    if (!Number.isSafeInteger(value)) throw new HeaderError('has an impossible size in its header');
    return value;
  }

  /** A length of 64 bits and as many bytes. */
  text(): string {
    const length = this.u64();
    const start = this.take(length);
    return this.bytes.toString('utf8', start, start + length);
  }

  skip(count: number): void {
    this.take(count);
  }

  private take(count: number): number {
    const start = this.at;
    if (count > this.bytes.length - start) throw new HeaderError(this.cut);
    this.at = start + count;
    return start;
  }
}
