import { isStatementTimeout, isTransient, type Database } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { AssetStore, BlobRecordStore, ExpiredAsset } from '../records';

const BATCH = 200;

/** Removes expired assets; those that a job refers to stay until it no longer does. */
export class ExpireAssetsLoop implements Loop {
  readonly name = 'expire-assets';
  readonly everyMs = 30_000;
  private readonly sweep: ItemSweep<ExpiredAsset>;

  constructor(
    private readonly database: Database,
    private readonly assets: AssetStore,
    private readonly records: BlobRecordStore,
  ) {
    this.sweep = new ItemSweep({
      limit: BATCH,
      page: (after, limit) => assets.listExpired(database, after, limit),
      keyOf: ({ id }) => id,
      turnOf: ({ turn }) => turn,
      workOnAll: (expired) => this.removeAll(expired),
      isOutage: isTransient,
      isTooLong: isStatementTimeout,
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  /** @returns how many were removed: what is in use again stays. */
  private removeAll(expired: readonly ExpiredAsset[]): Promise<number> {
    return this.database.transaction(async (tx) => {
      const locked = await this.assets.lockExpired(tx, expired);
      const removed = await this.assets.removeUnreferenced(
        tx,
        locked.map(({ id }) => id),
      );
      await this.records.orphanUnlessUsed(tx, locked);
      return removed;
    });
  }
}
