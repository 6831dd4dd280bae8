import type { Progress } from '@millrace/contracts';
import type { NodeTime } from '../client';

/** The node that runs, as far as snapshots show it. */
export interface ActiveNode {
  nodeId: string;
  classType: string | null;
  sinceMs: number;
  step: number | null;
  steps: number | null;
}

/**
 * Which nodes were seen running and for how long, from progress snapshots. Snapshots are throttled, so short nodes are
 * missed and times are approximate: for display, and where the service does not report times.
 */
export class ObservedNodes {
  private readonly done = new Map<string, NodeTime>();
  /** The furthest snapshot. Stream and polls may cross; a job's progress never decreases. */
  latest: Progress | null = null;
  active: ActiveNode | null = null;

  see(progress: Progress, nowMs: number): void {
    if (this.latest && progress.value < this.latest.value) return;
    this.latest = progress;
    const nodeId = progress.current_node ?? null;
    if (this.active && this.active.nodeId !== nodeId) this.close('succeeded', nowMs);
    if (nodeId === null) return;
    this.active = {
      nodeId,
      classType: progress.current_node_class ?? null,
      sinceMs: this.active?.sinceMs ?? nowMs,
      step: progress.step ?? null,
      steps: progress.steps ?? null,
    };
  }

  /** The job has ended, and the running node with it. */
  end(state: 'succeeded' | 'failed' | 'canceled', nowMs: number): void {
    if (this.active) this.close(state, nowMs);
  }

  /** Nodes that were seen running and no longer run, in the order in which they began. */
  times(): NodeTime[] {
    return [...this.done.values()];
  }

  private close(state: string, nowMs: number): void {
    if (!this.active) return;
    const { nodeId, classType, sinceMs } = this.active;
    const earlierMs = this.done.get(nodeId)?.ms ?? 0;
    this.done.set(nodeId, { nodeId, classType, state, ms: earlierMs + nowMs - sinceMs });
    this.active = null;
  }
}
