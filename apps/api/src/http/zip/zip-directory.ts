import { deflateRawSync, inflateRawSync } from 'node:zlib';

const BLOCK_BYTES = 65_536;
/** The fastest: the better ones make hardly less of it. It takes about a millisecond for each block. */
const LEVEL = 1;

/**
 * The directory of an archive while that is made: the record of every finished file, as it is sent at the end. An archive may have a
 * million, so there is no object for each: they lie one after the other in blocks, which are compressed once they are full. Of names with two
 * ids that leaves some 55 bytes for a file.
 */
export class ZipDirectory {
  private readonly full: Buffer[] = [];
  private readonly block = Buffer.alloc(BLOCK_BYTES);
  private filledBytes = 0;
  private recordCount = 0;

  /** How many records it has. */
  get files(): number {
    return this.recordCount;
  }

  /** How long it is in the archive. */
  get sizeBytes(): number {
    return this.full.length * BLOCK_BYTES + this.filledBytes;
  }

  /** What it takes in memory. */
  get keptBytes(): number {
    return this.full.reduce((sum, block) => sum + block.buffer.byteLength, this.block.length);
  }

  add(record: Buffer): void {
    this.recordCount += 1;
    for (let taken = 0; taken < record.length;) {
      const copied = record.copy(this.block, this.filledBytes, taken);
      taken += copied;
      this.filledBytes += copied;
      if (this.filledBytes === BLOCK_BYTES) this.closeBlock();
    }
  }

  /** Its bytes, in pieces of at most a block. */
  *pieces(): Generator<Buffer, void, void> {
    for (const block of this.full) yield inflateRawSync(block);
    yield this.block.subarray(0, this.filledBytes);
  }

  private closeBlock(): void {
    const bytes = deflateRawSync(this.block, { level: LEVEL });
    // What zlib returns may be a part of a longer buffer, which would be kept with it.
    const own = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(own);
    this.full.push(own);
    this.filledBytes = 0;
  }
}
