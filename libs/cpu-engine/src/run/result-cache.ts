import { BufferLedger } from './memory-budget';
import type { Value } from '../node-api/value';

/** What a node computed: per output, the values of its list. */
export type NodeOutputs = Value[][];

interface Entry {
  scope: string;
  outputs: NodeOutputs;
}

/**
 * Results of earlier runs by scope and signature, the least recently used forgotten first. No entry is ever found from
 * another scope.
 */
export class ResultCache {
  /** In order of use, the latest last. */
  private readonly entries = new Map<string, Entry>();
  private readonly ledger = new BufferLedger();

  constructor(private readonly maxBytes: number) {}

  find(scope: string, signature: string): NodeOutputs | undefined {
    const key = keyOf(scope, signature);
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.outputs;
  }

  remember(scope: string, signature: string, outputs: NodeOutputs): void {
    const key = keyOf(scope, signature);
    if (this.entries.has(key)) return;
    this.entries.set(key, { scope, outputs });
    this.ledger.retain(outputs.flat());
    for (const [oldest, entry] of this.entries) {
      if (this.ledger.bytes <= this.maxBytes) return;
      this.entries.delete(oldest);
      this.ledger.release(entry.outputs.flat());
    }
  }
}

/** A signature has a fixed length and no scope can run into it. */
function keyOf(scope: string, signature: string): string {
  return `${signature} ${scope}`;
}
