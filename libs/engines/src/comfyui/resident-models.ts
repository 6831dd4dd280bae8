/**
 * What ComfyUI holds in memory, as far as its cache policy tells: the models of the last prompt. It has no way to ask.
 */
export class ResidentModels {
  private names: ReadonlySet<string> = new Set();

  /** A run ended: of its nodes, those that ran or were cached hold their models; those of earlier runs may be gone. */
  keep(models: ReadonlyMap<string, string[]>, touched: Iterable<string>): void {
    this.names = new Set([...touched].flatMap((nodeId) => models.get(nodeId) ?? []));
  }

  /** The process was replaced, or told to free its memory. */
  clear(): void {
    this.names = new Set();
  }

  list(): string[] {
    return [...this.names];
  }
}
