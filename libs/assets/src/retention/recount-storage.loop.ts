import type { Database } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { StorageStore } from '../records';

/** Accounts of one run; their blobs are read. */
const BATCH = 100;

/**
 * Compares what accounts' counters say with their blobs, a page of accounts a run, and corrects those that differ. The blobs of each account
 * are read by a statement of its own: one that has too many for the time of a statement keeps no other from being compared.
 */
export class RecountStorageLoop implements Loop {
  readonly name = 'recount-storage';
  readonly everyMs = 60_000;
  private readonly sweep: ItemSweep<string>;

  constructor(
    private readonly database: Database,
    private readonly storage: Pick<StorageStore, 'accounts' | 'counts' | 'recount'>,
  ) {
    this.sweep = new ItemSweep({
      limit: BATCH,
      page: (after, limit) => storage.accounts(database, after, limit),
      keyOf: (accountId) => accountId,
      work: (accountId) => this.compare(accountId),
    });
  }

  /** @returns 0: the pages are a pause apart, because a round reads the row of every blob there is. */
  async runOnce(report?: LoopReport): Promise<number> {
    await this.sweep.run(report);
    return 0;
  }

  /** A count that is right is only read: to correct one locks it, for which uploads wait. */
  private async compare(accountId: string): Promise<boolean> {
    const [count] = await this.storage.counts(this.database, [accountId]);
    if (count === undefined || count.countedBytes === count.storedBytes) return false;
    return (await this.storage.recount(this.database, accountId)) !== 0;
  }
}
