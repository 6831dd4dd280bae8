import { isLink, type LivingGraph } from '../nodes/graph';

export interface CachedResult {
  values: unknown[];
  ui: Record<string, unknown> | null;
}

/** ComfyUI's default cache: the results of the last prompt, by class, literal inputs and the same of every ancestor. */
export class ResultCache {
  private results = new Map<string, CachedResult>();

  get(key: string): CachedResult | undefined {
    return this.results.get(key);
  }

  set(key: string, result: CachedResult): void {
    this.results.set(key, result);
  }

  /** Forgets what the prompt that begins does not name. */
  keepOnly(keys: ReadonlySet<string>): void {
    this.results = new Map([...this.results].filter(([key]) => keys.has(key)));
  }

  clear(): void {
    this.results.clear();
  }
}

/** The key of a node. Its id is no part of it, nor is who posted the graph; inputs that no class declares are. */
export function cacheKey(id: string, graph: LivingGraph, changed: (id: string) => unknown): string {
  const { class_type, inputs } = graph.get(id);
  const parts = Object.keys(inputs)
    .sort()
    .map((name) => {
      const value = inputs[name];
      return [name, isLink(value) ? [cacheKey(value[0], graph, changed), value[1]] : value];
    });
  return JSON.stringify([class_type, changed(id), parts]);
}
