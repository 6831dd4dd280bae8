import { copyOf } from '@millrace/workflow';
import { BufferLedger } from './memory-budget';
import type { Value } from '../node-api/value';

/** What a node computed: per output, the values of its list. */
export type NodeOutputs = Value[][];

/**
 * Results of earlier runs by scope and signature, the least recently used forgotten first. No entry is ever found from
 * another scope.
 */
export class ResultCache {
  /** In order of use, the latest last. */
  private readonly entries = new Map<string, NodeOutputs>();
  private readonly ledger = new BufferLedger();

  constructor(private readonly maxBytes: number) {}

  find(scope: string, signature: string): NodeOutputs | undefined {
    const key = keyOf(scope, signature);
    const outputs = this.entries.get(key);
    if (!outputs) return undefined;
    this.entries.delete(key);
    this.entries.set(key, outputs);
    return outputs;
  }

  remember(scope: string, signature: string, computed: NodeOutputs): void {
    const key = keyOf(scope, signature);
    if (this.entries.has(key)) return;
    const outputs = computed.map((values) => values.map(kept));
    this.entries.set(key, outputs);
    this.ledger.retain(outputs.flat());
    for (const [oldest, forgotten] of this.entries) {
      if (this.ledger.bytes <= this.maxBytes) return;
      this.entries.delete(oldest);
      this.ledger.release(forgotten.flat());
    }
  }
}

/** A signature has a fixed length and no scope can run into it. */
function keyOf(scope: string, signature: string): string {
  return `${signature} ${scope}`;
}

/** A text may be a part of the submission, of which nothing else counts here. */
function kept(value: Value): Value {
  return typeof value === 'string' ? copyOf(value) : value;
}
