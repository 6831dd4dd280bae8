import type { Statements } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { Lifecycle } from '../lifecycle';
import { endCanceling, listCancelable, type CancelableJob } from './batch-sweep.store';

const PAGE = 200;
/** Ends of one account's jobs wait for each other anyway. */
const CONCURRENCY = 2;

/** Cancels the jobs of canceled batches that the request did not get to, each as if it were canceled alone. */
export class CancelBatchesLoop implements Loop {
  readonly name = 'cancel-batches';
  readonly everyMs = 500;
  private readonly sweep: ItemSweep<CancelableJob>;

  constructor(
    private readonly database: Statements,
    lifecycle: Pick<Lifecycle, 'cancel'>,
  ) {
    this.sweep = new ItemSweep({
      limit: PAGE,
      concurrency: CONCURRENCY,
      page: (after, limit) => listCancelable(database, { after, limit }),
      keyOf: ({ id }) => id,
      work: async ({ id, ...place }) => {
        await lifecycle.cancel({ ...place, labels: null }, id);
        return true;
      },
    });
  }

  async runOnce(report?: LoopReport): Promise<number> {
    const canceled = await this.sweep.run(report);
    await endCanceling(this.database);
    return canceled;
  }
}
