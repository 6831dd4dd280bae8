import type { Statements } from '@millrace/database';
import { workOnAll, type Loop, type LoopReport } from '@millrace/platform';
import type { WorkingPoolsStore } from '../state';
import type { Dispatcher } from './dispatcher';

/** Fills the lane of every pool in which jobs wait: with what no request came for, and what new workers can now take. */
export class DispatchLoop implements Loop {
  readonly name = 'dispatch';
  readonly everyMs = 1_000;

  constructor(
    private readonly database: Statements,
    private readonly pools: Pick<WorkingPoolsStore, 'listWaiting'>,
    private readonly dispatcher: Pick<Dispatcher, 'fill'>,
  ) {}

  async runOnce(report?: LoopReport): Promise<number> {
    const poolIds = await this.pools.listWaiting(this.database);
    return workOnAll(poolIds, (poolId) => this.dispatcher.fill(poolId), report);
  }
}
