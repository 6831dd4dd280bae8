import type { Statements } from '@millrace/database';
import type { Auditor, Finding } from '@millrace/platform';
import type { StorageStore } from '../records';

const BATCH = 500;

/** The comparison of what accounts' counters say with their blobs. `recount-storage` corrects what it finds. */
export class StorageCountAuditor implements Auditor {
  readonly name = 'storage-counts';

  constructor(
    private readonly database: Statements,
    private readonly storage: Pick<StorageStore, 'accounts' | 'counts'>,
  ) {}

  async *findings(): AsyncGenerator<Finding> {
    let after: string | null = null;
    for (;;) {
      const page: string[] = await this.storage.accounts(this.database, after, BATCH);
      for (const { accountId, countedBytes, storedBytes } of await this.storage.counts(this.database, page)) {
        if (countedBytes === storedBytes) continue;
        const detail = `${countedBytes} bytes are counted, and the blobs have ${storedBytes}.`;
        yield { check: 'stored-bytes-are-counted', subject: accountId, detail };
      }
      if (page.length < BATCH) return;
      after = page.at(-1) ?? null;
    }
  }
}
