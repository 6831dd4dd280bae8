import type { Database } from '@millrace/database';
import type { ItemSweep, Loop, LoopReport } from '@millrace/platform';
import { freshCaps } from './fresh-caps';
import type { FreshCap, SpendCapStore } from './spend-cap.store';

/** Counts jobs by caps that their submissions did not see yet, because both were recorded at once. */
export class AdoptCappedJobsLoop implements Loop {
  readonly name = 'adopt-capped-jobs';
  readonly everyMs = 10_000;
  private readonly sweep: ItemSweep<FreshCap>;

  constructor(database: Database, store: Pick<SpendCapStore, 'listFresh' | 'adopt'>) {
    this.sweep = freshCaps(
      database,
      store,
      async ({ accountId, ...cap }) => (await store.adopt(database, accountId, cap)) > 0,
    );
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
