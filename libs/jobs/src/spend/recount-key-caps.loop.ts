import type { Database } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
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

  constructor(database: Database, store: Pick<SpendCapStore, 'listOfLines' | 'adopt' | 'countCharged'>) {
    this.sweep = new ItemSweep({
      limit: PAGE,
      page: (after, limit) => store.listOfLines(database, { after, limit }),
      keyOf: ({ id }) => id,
      work: async ({ accountId, ...cap }) => {
        // In this order: a job that ends between the two is in the sum, and one that ends later adds to it.
        const adopted = await store.adopt(database, accountId, cap);
        await database.transaction((tx) => store.countCharged(tx, accountId, cap));
        return adopted > 0;
      },
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
