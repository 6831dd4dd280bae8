import type { Database } from '@millrace/database';
import type { ItemSweep, Loop, LoopReport } from '@millrace/platform';
import { freshCaps } from './fresh-caps';
import { recountCap, type CapCounts } from './recount-cap';
import type { FreshCap, SpendCapStore } from './spend-cap.store';
import { sumUsage } from './summed-usage.store';

/**
 * Counts by a cap what was charged for jobs that were recorded beside it and have ended before they were adopted. Apart from the adoption,
 * which must not wait: a count reads what the account was charged in the month.
 */
export class RecountFreshCapsLoop implements Loop {
  readonly name = 'recount-fresh-caps';
  readonly everyMs = 60_000;
  private readonly sweep: ItemSweep<FreshCap>;

  constructor(database: Database, store: CapCounts & Pick<SpendCapStore, 'listFresh'>) {
    this.sweep = freshCaps(database, store, async (cap) =>
      recountCap(database, store, cap, await sumUsage(database, cap.accountId, cap)),
    );
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
