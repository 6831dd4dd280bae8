import type { Database } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import { recountCap, type CapCounts } from './recount-cap';
import type { FreshCap, SpendCapStore } from './spend-cap.store';

/** Longer than a submission takes that began before the cap was there. */
const FRESH_SECONDS = 300;
const PAGE = 200;
/** What fails is tried some times more while it is new. */
const REST = { firstMs: 10_000, longestMs: 60_000 };

/** Counts jobs by caps that their submissions did not see yet, because both were recorded at once: those too that have ended since. */
export class AdoptCappedJobsLoop implements Loop {
  readonly name = 'adopt-capped-jobs';
  readonly everyMs = 10_000;
  private readonly sweep: ItemSweep<FreshCap>;
  private roundBeganMs = 0;

  constructor(database: Database, store: CapCounts & Pick<SpendCapStore, 'listFresh'>) {
    this.sweep = new ItemSweep({
      limit: PAGE,
      rest: REST,
      page: (after, limit) => {
        if (after === null) this.roundBeganMs = performance.now();
        // What was new when the round began is worked through, however long that takes.
        const roundSeconds = (performance.now() - this.roundBeganMs) / 1_000;
        return store.listFresh(database, FRESH_SECONDS + roundSeconds, { after, limit });
      },
      keyOf: ({ id }) => id,
      work: (cap) => recountCap(database, store, cap),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
