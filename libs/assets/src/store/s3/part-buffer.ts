/** The memory of one part that fills. It grows with what arrives, so that a small file takes little of it. */
export class PartBuffer {
  private memory = Buffer.alloc(0);
  private filled = 0;

  /** @param size the most bytes that it takes. */
  constructor(private readonly size: number) {}

  get isFull(): boolean {
    return this.filled === this.size;
  }

  /** What has arrived since it was emptied. Valid until it is. */
  get bytes(): Buffer {
    return this.memory.subarray(0, this.filled);
  }

  /** Copy the beginning of a chunk, as much of it as there is room for. @returns the rest. */
  take(chunk: Buffer): Buffer {
    const count = Math.min(chunk.length, this.size - this.filled);
    this.makeRoom(this.filled + count);
    chunk.copy(this.memory, this.filled, 0, count);
    this.filled += count;
    return chunk.subarray(count);
  }

  /** Take what comes next; the memory is used again. */
  empty(): void {
    this.filled = 0;
  }

  private makeRoom(needed: number): void {
    if (needed <= this.memory.length) return;
    // Not from the pool of small buffers, of which a part would keep what others are done with.
    const larger = Buffer.allocUnsafeSlow(Math.min(this.size, Math.max(needed, 2 * this.memory.length)));
    this.memory.copy(larger, 0, 0, this.filled);
    this.memory = larger;
  }
}
