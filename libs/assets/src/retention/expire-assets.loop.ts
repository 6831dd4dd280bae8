import type { Database } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { AssetStore, BlobRecordStore } from '../records';

const BATCH = 200;

/** Removes expired assets; those that a job refers to stay until it no longer does. */
export class ExpireAssetsLoop implements Loop {
  readonly name = 'expire-assets';
  readonly everyMs = 30_000;

  constructor(
    private readonly database: Database,
    private readonly assets: AssetStore,
    private readonly records: BlobRecordStore,
  ) {}

  runOnce(): Promise<number> {
    return this.database.transaction(async (tx) => {
      const expired = await this.assets.lockExpired(tx, BATCH);
      if (expired.length === 0) return 0;
      const ids = expired.map((asset) => asset.id);
      const removed = await this.assets.removeUnreferenced(tx, ids);
      await this.records.orphanUnlessUsed(tx, expired);
      return removed;
    });
  }
}
