/** How long runs on a server have taken from their end there until everything that they made was fetched. */
export class FetchTimes {
  private lastMs = Infinity;

  /** @param quickMs how long a quick one takes at most, in milliseconds. */
  constructor(private readonly quickMs: number) {}

  /** The last one was quick, so that the next, which is often alike, may be expected to be. */
  get areQuick(): boolean {
    return this.lastMs <= this.quickMs;
  }

  /** @param fetch what is measured, however it ends. */
  async measured<T>(fetch: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await fetch();
    } finally {
      this.lastMs = performance.now() - startedAt;
    }
  }
}
