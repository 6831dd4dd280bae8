import { NodeFault } from '../node-api/node-fault';
import { sizeOf, type Value } from '../node-api/value';

const MIB = 1024 * 1024;

/**
 * What a value costs beside its content: some hundreds of bytes of JavaScript objects, put higher so that a heap of a few
 * hundred MiB holds as many values as a budget lets through. Not pixels but millions of tiny pictures would fill it.
 */
const OVERHEAD_BYTES = 2048;

/** The memory that values hold. Views of one buffer count once, and as the whole of it. */
export class BufferLedger {
  private readonly references = new Map<ArrayBufferLike, number>();
  private textBytes = 0;
  private bufferBytes = 0;

  get bytes(): number {
    return this.bufferBytes + this.textBytes;
  }

  retain(values: Iterable<Value>): void {
    for (const value of values) {
      const buffer = bufferOf(value);
      if (!buffer) this.textBytes += OVERHEAD_BYTES + sizeOf(value);
      else {
        const references = this.references.get(buffer) ?? 0;
        this.bufferBytes += OVERHEAD_BYTES + (references === 0 ? buffer.byteLength : 0);
        this.references.set(buffer, references + 1);
      }
    }
  }

  release(values: Iterable<Value>): void {
    for (const value of values) {
      const buffer = bufferOf(value);
      if (!buffer) this.textBytes -= OVERHEAD_BYTES + sizeOf(value);
      else {
        const references = (this.references.get(buffer) ?? 0) - 1;
        if (references > 0) this.references.set(buffer, references);
        else this.references.delete(buffer);
        this.bufferBytes -= OVERHEAD_BYTES + (references > 0 ? 0 : buffer.byteLength);
      }
    }
  }
}

/**
 * What one run may hold in memory: the values between its nodes, and what the node at work has asked for. Asked before
 * anything is allocated, so that a request beyond it is a sentence and not the end of the process.
 */
export class MemoryBudget {
  private readonly held = new BufferLedger();
  private workingBytes = 0;

  constructor(private readonly limitBytes: number) {}

  /** @throws {NodeFault} when `bytes` more would pass the limit. */
  charge(bytes: number): void {
    const charged = bytes + OVERHEAD_BYTES;
    const wanted = this.held.bytes + this.workingBytes + charged;
    if (wanted > this.limitBytes)
      throw new NodeFault(
        `This node needs ${inMib(wanted)} MiB for its pixels, with what the run holds already; a run may hold ` +
          `${inMib(this.limitBytes)} MiB. Use smaller pictures or batches.`,
      );
    this.workingBytes += charged;
  }

  /** Bytes charged since the node's call began; `giveBack` returns to such a state. */
  get charged(): number {
    return this.workingBytes;
  }

  giveBack(charged: number): void {
    this.workingBytes = charged;
  }

  /** The node's call has ended with these values; everything else that it allocated is garbage. */
  keep(values: Iterable<Value>): void {
    this.held.retain(values);
    this.workingBytes = 0;
  }

  /** No node needs these values any more. */
  drop(values: Iterable<Value>): void {
    this.held.release(values);
  }
}

function bufferOf(value: Value): ArrayBufferLike | null {
  return typeof value === 'object' && value !== null && value.kind !== 'JSON' ? value.data.buffer : null;
}

function inMib(bytes: number): number {
  return Math.max(1, Math.round(bytes / MIB));
}
