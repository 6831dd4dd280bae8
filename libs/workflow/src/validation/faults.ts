import type { NodeError, NodeErrorReason, NodeErrors } from '@millrace/contracts';

/** The node id under which faults of the graph as a whole stand (wire supplement, section 2). */
export const WHOLE_GRAPH = '';

/** Faults in the order in which they are found, up to a number that no reader and no response should exceed. */
export class FaultList {
  private readonly byNode = new Map<string, NodeError[]>();
  private count = 0;

  constructor(private readonly maxFaults: number) {}

  get isFull(): boolean {
    return this.count >= this.maxFaults;
  }

  add(nodeId: string, field: string, reason: NodeErrorReason, message: string): void {
    if (this.isFull) return;
    this.count += 1;
    const fault = { field, reason, message: this.isFull ? `${message} Further faults are not listed.` : message };
    const faults = this.byNode.get(nodeId);
    if (faults) faults.push(fault);
    else this.byNode.set(nodeId, [fault]);
  }

  /** `fromEntries` defines own properties: a node called `__proto__` keeps its faults. */
  toNodeErrors(): NodeErrors {
    return Object.fromEntries(this.byNode);
  }
}

/** A value's text in a sentence, cut to a readable length. */
export function shown(text: string): string {
  const points = [...text.slice(0, 122)];
  return points.length > 60 ? `${points.slice(0, 60).join('')}…` : text;
}
