import type { Statements } from '@millrace/database';
import type { PoolStore } from '@millrace/deployments';
import type { Loop } from '@millrace/platform';
import type { Dispatcher } from './dispatcher';

/** Fills every pool's lane: with what no request came for, and what new workers can now take. */
export class DispatchLoop implements Loop {
  readonly name = 'dispatch';
  readonly everyMs = 1_000;

  constructor(
    private readonly database: Statements,
    private readonly pools: Pick<PoolStore, 'listIds'>,
    private readonly dispatcher: Dispatcher,
  ) {}

  async runOnce(): Promise<number> {
    const poolIds = await this.pools.listIds(this.database);
    const counts = await Promise.all(poolIds.map((poolId) => this.dispatcher.fill(poolId)));
    return counts.reduce((sum, count) => sum + count, 0);
  }
}
