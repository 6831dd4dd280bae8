import type { Database } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import { recountCap, type CapCounts } from './recount-cap';
import type { FreshCap, SpendCapStore } from './spend-cap.store';

const PAGE = 200;

/**
 * Counts again by the caps that count what several keys submit. A process of before `keys_that_spend_together` counts a job by the key that
 * submitted it alone, for as long as one runs: during an upgrade, and after a rollback. Each process of this version begins with it.
 */
export class RecountKeyCapsLoop implements Loop {
  readonly name = 'recount-key-caps';
  readonly everyMs = 3_600_000;
  private readonly sweep: ItemSweep<FreshCap>;

  constructor(database: Database, store: CapCounts & Pick<SpendCapStore, 'listOfLines'>) {
    this.sweep = new ItemSweep({
      limit: PAGE,
      page: (after, limit) => store.listOfLines(database, { after, limit }),
      keyOf: ({ id }) => id,
      work: (cap) => recountCap(database, store, cap),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
