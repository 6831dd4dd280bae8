/** A piece of at least so many bytes is kept as it came: what it takes beside its bytes is little against them. */
const WHOLE_BYTES = 1_024;
/** Smaller ones are copied together, into blocks as large as what was copied before, within these bounds. */
const [LEAST_BLOCK_BYTES, MOST_BLOCK_BYTES] = [1_024, 65_536];

/**
 * Bytes that arrive in pieces, and are wanted whole. A client decides how large the pieces are, and each buffer takes some 490 bytes beside
 * its own: with one for each piece, a body in pieces of one byte would take 490 times its size. What is kept here takes twice the
 * size of the bytes at most, and 1 KiB.
 */
export class GatheredBytes {
  /** Only the last may have room. */
  private readonly buffers: Buffer[] = [];
  private size = 0;
  /** Of these, those in blocks. */
  private copied = 0;
  /** Of the last buffer, what is used of it; null where it has no room. */
  private used: number | null = null;

  /** Keep a piece, which nobody may change. @returns how many bytes of memory that takes. */
  add(piece: Buffer): number {
    const rest = this.fill(piece);
    const before = this.size;
    this.size += piece.length;
    if (rest.length === 0) return 0;
    if (before === 0 || rest.length >= WHOLE_BYTES) {
      this.buffers.push(rest);
      return rest.length;
    }
    // Not from the pool of small buffers, which would be kept with it.
    const block = Buffer.allocUnsafeSlow(Math.min(MOST_BLOCK_BYTES, Math.max(LEAST_BLOCK_BYTES, this.copied)));
    this.buffers.push(block);
    this.used = rest.copy(block);
    this.copied += this.used;
    return block.length;
  }

  /** All of them. Nothing is copied where they came in one piece. */
  whole(): Buffer {
    const [first = Buffer.alloc(0)] = this.buffers;
    return this.buffers.length <= 1 ? first : Buffer.concat(this.buffers, this.size);
  }

  /** Copy as much of a piece as the last block has room for. @returns the rest. */
  private fill(piece: Buffer): Buffer {
    const block = this.buffers.at(-1);
    if (this.used === null || block === undefined) return piece;
    const count = piece.copy(block, this.used);
    this.used += count;
    this.copied += count;
    if (this.used === block.length) this.used = null;
    return piece.subarray(count);
  }
}
