import type { Statements } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { SpendCapStore, SpentJob } from './spend-cap.store';
import type { Lifecycle } from '../lifecycle';

const PAGE = 200;
/** Ends of one account's jobs wait for each other anyway. */
const CONCURRENCY = 2;

/**
 * Cancels what waits or runs though a cap with `stop` is used up, each job as if its holder had canceled it: used time is charged, and the
 * hold bounds it. That the cap is used up is in PostgreSQL, so a run that dies half-way is gone on with by the next.
 */
export class CancelSpentJobsLoop implements Loop {
  readonly name = 'cancel-spent-jobs';
  readonly everyMs = 1_000;
  private readonly sweep: ItemSweep<SpentJob>;

  constructor(database: Statements, store: Pick<SpendCapStore, 'listSpent'>, lifecycle: Pick<Lifecycle, 'cancel'>) {
    this.sweep = new ItemSweep({
      limit: PAGE,
      concurrency: CONCURRENCY,
      page: (after, limit) => store.listSpent(database, after, limit),
      keyOf: ({ id }) => id,
      work: async ({ id, ...place }) => {
        await lifecycle.cancel({ ...place, labels: null }, id);
        return true;
      },
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
