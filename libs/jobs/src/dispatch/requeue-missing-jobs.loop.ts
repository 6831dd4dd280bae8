import type { Statements } from '@millrace/database';
import type { PoolStore } from '@millrace/deployments';
import type { Loop } from '@millrace/platform';
import type { Dispatcher } from './dispatcher';

/** Puts attempts back that are in a lane by Postgres and not by the lane: Redis lost them, or never received them. */
export class RequeueMissingJobsLoop implements Loop {
  readonly name = 'requeue-missing-jobs';
  readonly everyMs = 2_000;

  constructor(
    private readonly database: Statements,
    private readonly pools: Pick<PoolStore, 'listIds'>,
    private readonly dispatcher: Dispatcher,
  ) {}

  /** @throws when Redis is away; the next run tries again. */
  async runOnce(): Promise<number> {
    const poolIds = await this.pools.listIds(this.database);
    const counts = await Promise.all(poolIds.map((poolId) => this.dispatcher.redeliver(poolId)));
    return counts.reduce((sum, count) => sum + count, 0);
  }
}
