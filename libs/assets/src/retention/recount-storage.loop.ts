import type { Database } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { StorageStore } from '../records';

/** Accounts of one run; their blobs are read. */
const BATCH = 100;

/** Compares what accounts' counters say with their blobs, a page of accounts a run, and corrects those that differ. */
export class RecountStorageLoop implements Loop {
  readonly name = 'recount-storage';
  readonly everyMs = 60_000;
  private after: string | null = null;

  constructor(
    private readonly database: Database,
    private readonly storage: Pick<StorageStore, 'counts' | 'recount'>,
  ) {}

  /** @returns how many counters were wrong. */
  async runOnce(): Promise<number> {
    const page = await this.storage.counts(this.database, this.after, BATCH);
    let corrected = 0;
    for (const { accountId, countedBytes, storedBytes } of page) {
      if (countedBytes === storedBytes) continue;
      if ((await this.storage.recount(this.database, accountId)) !== 0) corrected += 1;
    }
    this.after = page.length < BATCH ? null : (page.at(-1)?.accountId ?? null);
    return corrected;
  }
}
