import { linksOfNode, type BoundNode } from './bound-node';

interface PendingNode {
  id: string;
  /** Place in order of discovery. */
  place: number;
  isOutput: boolean;
  /** How many nodes it waits for. */
  waitingFor: number;
  waiters: Set<PendingNode>;
}

/**
 * Which node runs next: ComfyUI's own choice, so that outputs come in the order that its users know. Of the nodes that
 * wait for nothing, an output node goes first, then one that an output node waits for, then one that is two steps from
 * an output node, then the first in order of discovery from the outputs backwards.
 */
export class ExecutionOrder {
  private readonly pending = new Map<string, PendingNode>();
  /** Those that wait for nothing, in order of discovery. */
  private readonly ready: PendingNode[];

  /**
   * @param outputs output nodes, in the graph's order
   * @param isDone true of nodes whose results are at hand: neither they nor what only they need will run
   */
  constructor(nodes: ReadonlyMap<string, BoundNode>, outputs: Iterable<string>, isDone: (id: string) => boolean) {
    for (const id of outputs) this.discover(id, nodes, isDone);
    this.ready = [...this.pending.values()].filter((node) => node.waitingFor === 0);
  }

  /** The nodes that will run. */
  includes(id: string): boolean {
    return this.pending.has(id);
  }

  /** The next node, taken off the list; undefined when none is left. */
  next(): string | undefined {
    const chosen =
      this.ready.find((node) => node.isOutput) ??
      this.ready.find(leadsToOutput) ??
      this.ready.find((node) => some(node.waiters, leadsToOutput)) ??
      this.ready[0];
    if (!chosen) return undefined;
    this.ready.splice(this.ready.indexOf(chosen), 1);
    for (const waiter of chosen.waiters) {
      waiter.waitingFor -= 1;
      if (waiter.waitingFor === 0) this.makeReady(waiter);
    }
    return chosen.id;
  }

  private discover(output: string, nodes: ReadonlyMap<string, BoundNode>, isDone: (id: string) => boolean): void {
    const stack = [output];
    const links: [from: string, to: PendingNode][] = [];
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      const node = nodes.get(id);
      if (!node || this.pending.has(id)) continue;
      const isOutput = node.nodeClass.entry.outputNode;
      const found = { id, place: this.pending.size, isOutput, waitingFor: 0, waiters: new Set<PendingNode>() };
      this.pending.set(id, found);
      for (const { nodeId } of linksOfNode(node)) {
        if (isDone(nodeId)) continue;
        stack.push(nodeId);
        links.push([nodeId, found]);
      }
    }
    for (const [from, to] of links) {
      const waiters = this.pending.get(from)?.waiters;
      if (!waiters || waiters.has(to)) continue;
      waiters.add(to);
      to.waitingFor += 1;
    }
  }

  private makeReady(node: PendingNode): void {
    const after = this.ready.findIndex(({ place }) => place > node.place);
    this.ready.splice(after === -1 ? this.ready.length : after, 0, node);
  }
}

function leadsToOutput({ waiters }: PendingNode): boolean {
  return some(waiters, (waiter) => waiter.isOutput);
}

function some<T>(values: Iterable<T>, test: (value: T) => boolean): boolean {
  for (const value of values) if (test(value)) return true;
  return false;
}
