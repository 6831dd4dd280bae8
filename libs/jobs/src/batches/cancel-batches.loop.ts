import type { Statements } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { Lifecycle } from '../lifecycle';
import { endCanceling, lastCancelable, listCancelable, type CancelableJob } from './batch-sweep.store';

const PAGE = 200;
/** Ends of one account's jobs wait for each other anyway. */
const CONCURRENCY = 2;

/**
 * Cancels the jobs of canceled batches that the request did not get to, each as if it were canceled alone. A round ends with the highest id
 * of its beginning: an account that goes on submitting batches and canceling them, whose ids are higher, does not keep a round from its
 * end, nor older batches of others from the next one.
 */
export class CancelBatchesLoop implements Loop {
  readonly name = 'cancel-batches';
  readonly everyMs = 500;
  private readonly sweep: ItemSweep<CancelableJob>;
  /** The last id of the round under way. */
  private upTo: string | null = null;

  constructor(
    private readonly database: Statements,
    lifecycle: Pick<Lifecycle, 'cancel'>,
  ) {
    this.sweep = new ItemSweep({
      limit: PAGE,
      concurrency: CONCURRENCY,
      page: async (after, limit) => {
        if (after === null) this.upTo = await lastCancelable(database);
        return this.upTo === null ? [] : listCancelable(database, { after, upTo: this.upTo, limit });
      },
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
