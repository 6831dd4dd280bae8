import type { Statements } from '@millrace/database';
import type { Loop, Metrics } from '@millrace/platform';
import { pendingJobs, type QueueDepthStore } from './queue-depth.store';

/** Shows how much work every pool has: for dashboards, alerts, and what scales workers. */
export class MeasureQueuesLoop implements Loop {
  readonly name = 'measure-queues';
  readonly everyMs = 5_000;
  readonly everywhere = true;

  constructor(
    private readonly database: Statements,
    private readonly store: QueueDepthStore,
    private readonly metrics: Metrics,
  ) {}

  async runOnce(): Promise<number> {
    const { poolPendingJobs, queueDepth, queueOldestSeconds } = this.metrics;
    // No figure is better than an old one, of a failed reading or of a pool that is gone: what scales by it then falls back.
    const depths = await this.store.measure(this.database).finally(() => {
      for (const gauge of [poolPendingJobs, queueDepth, queueOldestSeconds]) gauge.reset();
    });
    for (const depth of depths) {
      const pool = depth.poolId;
      for (const delivery of ['waiting', 'dispatched', 'leased'] as const) {
        queueDepth.set({ pool, delivery }, depth[delivery]);
      }
      queueOldestSeconds.set({ pool }, depth.oldestSeconds);
      poolPendingJobs.set({ pool }, pendingJobs(depth));
      this.metrics.showPool(pool);
    }
    return 0;
  }
}
