import type { Progress } from '@millrace/contracts';
import type { ProgressPlan } from './progress-plan';

/** A node that runs. */
interface Running {
  /** The furthest it ever was, 0 to 1: a node that runs once for each item of a list starts over. */
  fraction: number;
  /** As last reported; 0 of 0 where nothing was. */
  step: number;
  steps: number;
}

/**
 * Turns what an engine reports about nodes into the progress of the whole (contract, section 2.2). Every snapshot is complete,
 * and neither `value` nor `nodes_done` ever decreases, for any reports in any order. Events of nodes outside the
 * plan, and all after `finished`, change nothing; nodes of an expansion are for the caller to map to the node expanded.
 */
export class ProgressTracker {
  private readonly done = new Set<string>();
  /** In order of the last sign of life. */
  private readonly running = new Map<string, Running>();
  private doneWeight = 0;
  private value: number;
  private isFinished = false;
  private stagedModels: Progress['staging'];

  /** @param floor the least `value` to show: where an earlier attempt of the same job got to */
  constructor(
    private readonly plan: ProgressPlan,
    floor = 0,
  ) {
    this.value = within(floor, 1);
  }

  /** So much of the models is on the machine; undefined once they all are, and the run begins. */
  staging(models: Progress['staging']): void {
    this.stagedModels = models;
  }

  /** These nodes need not run. */
  nodesCached(ids: Iterable<string>): void {
    for (const id of ids) this.nodeFinished(id);
  }

  nodeStarted(id: string): void {
    this.touch(id);
  }

  /** Step `step` of `steps` of a node is done. Numbers as an engine reports them: any. */
  nodeStep(id: string, step: number, steps: number): void {
    if (!Number.isFinite(step) || !Number.isFinite(steps) || steps <= 0) return;
    if (this.done.has(id) && !this.running.has(id)) return;
    const node = this.touch(id);
    if (!node) return;
    node.steps = Math.max(1, Math.round(within(steps, Number.MAX_SAFE_INTEGER)));
    node.step = Math.floor(within(step, node.steps));
    node.fraction = Math.max(node.fraction, within(step / steps, 1));
  }

  nodeFinished(id: string): void {
    const weight = this.isFinished ? undefined : this.plan.nodes.get(id)?.weight;
    this.running.delete(id);
    if (weight === undefined || this.done.has(id)) return;
    this.done.add(id);
    this.doneWeight += weight;
  }

  /** The run succeeded: everything there was to compute is computed. */
  finished(): void {
    this.isFinished = true;
    this.running.clear();
    this.value = 1;
  }

  snapshot(): Progress {
    const { nodes } = this.plan;
    const [id, node] = [...this.running].at(-1) ?? [null, null];
    const classType = id === null ? null : (nodes.get(id)?.classType ?? null);
    const hasSteps = node !== null && node.steps > 0;
    return {
      value: this.advance(),
      nodes_done: this.isFinished ? nodes.size : this.done.size,
      nodes_total: nodes.size,
      current_node: id,
      current_node_class: classType,
      step: hasSteps ? node.step : null,
      steps: hasSteps ? node.steps : null,
      message: this.message(classType, hasSteps ? node : null),
      ...(this.stagedModels && { staging: this.stagedModels }),
    };
  }

  private message(classType: string | null, steps: Running | null): string | null {
    if (this.isFinished) return 'Finished';
    if (this.stagedModels) return stagingMessage(this.stagedModels);
    if (classType === null) return null;
    return steps ? `${classType}: step ${steps.step} of ${steps.steps}` : `${classType} is running`;
  }

  /** The running state of a planned node, which becomes the most recently reported one; undefined if it is not tracked. */
  private touch(id: string): Running | undefined {
    if (this.isFinished || !this.plan.nodes.has(id)) return undefined;
    const node = this.running.get(id) ?? { fraction: 0, step: 0, steps: 0 };
    this.running.delete(id);
    this.running.set(id, node);
    return node;
  }

  private advance(): number {
    let weight = this.doneWeight;
    for (const [id, { fraction }] of this.running) {
      if (!this.done.has(id)) weight += fraction * (this.plan.nodes.get(id)?.weight ?? 0);
    }
    const { totalWeight } = this.plan;
    if (totalWeight > 0) this.value = Math.max(this.value, within(weight / totalWeight, 1));
    return this.value;
  }
}

/** `staging: 3.1 of 6.9 GB`. */
function stagingMessage({ staged_bytes: staged, total_bytes: total }: NonNullable<Progress['staging']>): string {
  const [unit, size] = total >= 1e9 ? ['GB', 1e9] : ['MB', 1e6];
  return `staging: ${(staged / size).toFixed(1)} of ${(total / size).toFixed(1)} ${unit}`;
}

/** `value` brought into 0 to `top`; 0 for what is no number. */
function within(value: number, top: number): number {
  return value > 0 ? Math.min(value, top) : 0;
}
