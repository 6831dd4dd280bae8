import type { Statements } from '@millrace/database';
import type { Loop, Metrics } from '@millrace/platform';
import type { WorkerStore } from './worker.store';

/** Shows in which state the workers of each pool are: for dashboards. */
export class MeasureWorkersLoop implements Loop {
  readonly name = 'measure-workers';
  readonly everyMs = 15_000;
  readonly everywhere = true;

  constructor(
    private readonly database: Statements,
    private readonly workers: Pick<WorkerStore, 'count'>,
    private readonly metrics: Metrics,
  ) {}

  async runOnce(): Promise<number> {
    const { workers: gauge } = this.metrics;
    const counts = await this.workers.count(this.database).finally(() => gauge.reset());
    for (const { poolId: pool, state, workers } of counts) gauge.set({ pool, state }, workers);
    return 0;
  }
}
