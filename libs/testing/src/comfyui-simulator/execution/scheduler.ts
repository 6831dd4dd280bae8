import type { LivingGraph } from '../nodes/graph';

export interface SchedulerRules {
  isCached: (id: string) => boolean;
  isOutput: (id: string) => boolean;
  isAsync: (id: string) => boolean;
}

/**
 * The order in which ComfyUI runs nodes, as its recordings show it: of those that are ready, output and asynchronous ones
 * first, then those that an output waits for, then those that such a one waits for, else the one that was reached first.
 */
export class Scheduler {
  /** Nodes by id, with the number of things they wait for; in the order in which they were reached. */
  private readonly waiting = new Map<string, number>();
  private readonly followers = new Map<string, Set<string>>();

  constructor(
    private readonly graph: LivingGraph,
    private readonly rules: SchedulerRules,
  ) {}

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  add(root: string): void {
    const stack = [root];
    const links: [string, string][] = [];
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (this.waiting.has(id)) continue;
      this.waiting.set(id, 0);
      this.followers.set(id, new Set());
      for (const source of this.graph.linksOf(id)) {
        if (this.rules.isCached(source)) continue;
        stack.push(source);
        links.push([source, id]);
      }
    }
    for (const [source, id] of links) this.link(source, id);
  }

  /** Makes `id` wait for `source`. */
  link(source: string, id: string): void {
    if (this.rules.isCached(source)) return;
    if (!this.waiting.has(source)) this.add(source);
    const followers = this.followers.get(source);
    if (!followers || followers.has(id)) return;
    followers.add(id);
    this.hold(id);
  }

  hold(id: string): void {
    this.waiting.set(id, (this.waiting.get(id) ?? 0) + 1);
  }

  release(id: string): void {
    this.waiting.set(id, (this.waiting.get(id) ?? 1) - 1);
  }

  /** The next node to run, or null while all that are left wait. */
  pick(): string | null {
    const ready = [...this.waiting].filter(([, count]) => count === 0).map(([id]) => id);
    const { isAsync, isOutput } = this.rules;
    const after = (id: string): string[] => [...(this.followers.get(id) ?? [])];
    return (
      ready.find((id) => isOutput(id) || isAsync(id)) ??
      ready.find((id) => after(id).some(isOutput)) ??
      ready.find((id) => after(id).some((next) => after(next).some(isOutput))) ??
      ready[0] ??
      null
    );
  }

  complete(id: string): void {
    this.waiting.delete(id);
    for (const follower of this.followers.get(id) ?? []) this.release(follower);
    this.followers.delete(id);
  }
}
