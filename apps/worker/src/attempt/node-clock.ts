import type { NodeTiming } from '@millrace/jobs';
import type { ProgressPlan } from '@millrace/workflow';

/** Measures how long each node of a run took. Nodes that run more than once add up. */
export class NodeClock {
  private readonly timings = new Map<string, NodeTiming & { startedAt: number | null }>();

  /** @param plan the nodes that a run computes; only their times are kept. */
  constructor(
    private readonly plan: ProgressPlan,
    private readonly now: () => number = () => performance.now(),
  ) {}

  cached(nodeIds: Iterable<string>): void {
    for (const nodeId of nodeIds) {
      const timing = this.timing(nodeId);
      if (timing !== null) timing.state = 'cached';
    }
  }

  started(nodeId: string): void {
    const timing = this.timing(nodeId);
    if (timing === null || timing.startedAt !== null) return;
    timing.startedAt = this.now();
    timing.state = 'running';
  }

  finished(nodeId: string): void {
    const timing = this.timing(nodeId);
    if (timing === null || timing.startedAt === null) return;
    timing.ms = (timing.ms ?? 0) + Math.round(this.now() - timing.startedAt);
    timing.startedAt = null;
    timing.state = 'done';
  }

  failed(nodeId: string | null): void {
    if (nodeId === null) return;
    this.finished(nodeId);
    const timing = this.timing(nodeId);
    if (timing !== null) timing.state = 'failed';
  }

  /** In the order of their first events. */
  read(): NodeTiming[] {
    return [...this.timings.values()].map(({ startedAt: _, ...timing }) => timing);
  }

  private timing(nodeId: string): (NodeTiming & { startedAt: number | null }) | null {
    const known = this.timings.get(nodeId);
    if (known !== undefined) return known;
    const planned = this.plan.nodes.get(nodeId);
    if (planned === undefined) return null;
    const timing = { nodeId, classType: planned.classType, state: 'running' as const, ms: null, startedAt: null };
    this.timings.set(nodeId, timing);
    return timing;
  }
}
