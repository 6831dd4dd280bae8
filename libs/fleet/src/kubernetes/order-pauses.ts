const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

interface Failure {
  error: unknown;
  count: number;
  notBeforeMs: number;
}

/**
 * Orders of each pool that failed: they are repeated after growing pauses, so that a server which refuses one pool is not asked for
 * it every second. Other pools are not held back.
 */
export class OrderPauses {
  private readonly failures = new Map<string, Failure>();

  /**
   * Place an order, unless the pool is paused.
   *
   * @throws what the order threw; during the pause what it threw last.
   */
  async place(poolId: string, order: () => Promise<void>): Promise<void> {
    const failure = this.failures.get(poolId);
    if (failure !== undefined && performance.now() < failure.notBeforeMs) throw failure.error;
    try {
      await order();
      this.failures.delete(poolId);
    } catch (error) {
      const count = (failure?.count ?? 0) + 1;
      const pauseMs = Math.min(LONGEST_MS, Math.max(FIRST_MS * 2 ** (count - 1), retryAfterOf(error)));
      this.failures.set(poolId, { error, count, notBeforeMs: performance.now() + pauseMs });
      throw error;
    }
  }
}

function retryAfterOf(error: unknown): number {
  const { retryAfterMs } = error as { retryAfterMs?: number | null };
  return retryAfterMs ?? 0;
}
