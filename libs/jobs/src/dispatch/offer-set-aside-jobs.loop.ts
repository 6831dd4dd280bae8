import type { Statements } from '@millrace/database';
import type { LaneProducer } from '@millrace/messaging';
import { workOnAll, type Loop, type LoopReport } from '@millrace/platform';
import type { WorkingPoolsStore } from '../state';
import type { SetAsideStore } from './set-aside.store';

/** Jobs that no worker has room for any more go to the lane a few at a time: they count as in flight there. */
const RELEASED_AT_ONCE = 20;

/**
 * Offers jobs that are set aside: to workers with room for their models that have nothing to do, and to any where none has room any more. While
 * all that have room are busy nothing is offered: these look for such jobs themselves. The message is the one that workers leave to others,
 * which is there once.
 */
export class OfferSetAsideJobsLoop implements Loop {
  readonly name = 'offer-set-aside-jobs';
  readonly everyMs = 500;

  constructor(
    private readonly database: Statements,
    private readonly pools: Pick<WorkingPoolsStore, 'listWithSetAside'>,
    private readonly aside: Pick<SetAsideStore, 'listAwaited' | 'release'>,
    private readonly lanes: Pick<LaneProducer, 'addLeft'>,
  ) {}

  /** @returns how many are set aside no more. @throws when Redis is away; the next run tries again. */
  async runOnce(report?: LoopReport): Promise<number> {
    const poolIds = await this.pools.listWithSetAside(this.database);
    return workOnAll(poolIds, (poolId) => this.offer(poolId), report);
  }

  private async offer(poolId: string): Promise<number> {
    const released = await this.aside.release(this.database, poolId, RELEASED_AT_ONCE);
    const awaited = await this.aside.listAwaited(this.database, poolId);
    for (const job of [...released, ...awaited]) await this.lanes.addLeft(poolId, job);
    // An offer changes nothing: a worker may leave it where it is.
    return released.length;
  }
}
