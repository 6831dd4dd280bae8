/**
 * What ComfyUI holds in memory, derived from its cache policy, because it has no way to ask: the models of the last prompt.
 */
export class ResidentModels {
  private names: ReadonlySet<string> = new Set();

  /** A run ended: of its nodes, those that ran or were cached hold their models; those of earlier runs may be gone. */
  keep(models: ReadonlyMap<string, string[]>, touched: Iterable<string>): void {
    this.names = new Set([...touched].flatMap((nodeId) => models.get(nodeId) ?? []));
  }

  /** The process was replaced, or asked to free its memory. */
  clear(): void {
    this.names = new Set();
  }

  list(): string[] {
    return [...this.names];
  }
}
