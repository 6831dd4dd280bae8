import { outputTypeOf, type AssetService, type StoredBlob } from '@millrace/assets';
import type { Database } from '@millrace/database';
import type { Fence } from './job';
import type { JobSignals } from './job-signals';
import type { OutputStore } from './output.store';

/** An output whose bytes are stored and that no record tells of yet. */
export interface OutputDraft {
  nodeId: string;
  /** Position among the outputs of its node. */
  nodeIndex: number;
  /** Position among the outputs of its attempt. */
  ordinal: number;
  name: string;
  contentType: string;
  blob: StoredBlob;
}

/** Records outputs as they land, under the fence of their attempt. */
export class OutputRecorder {
  constructor(
    private readonly database: Database,
    private readonly store: OutputStore,
    private readonly assets: AssetService,
    private readonly signals: JobSignals,
  ) {}

  /**
   * Make an output part of its job. One that a lost attempt recorded for the same place is replaced.
   *
   * @returns false when the lease is lost: nothing was recorded.
   * @throws BlobStoreError when the bytes are gone again.
   */
  async record(fence: Fence, draft: OutputDraft): Promise<boolean> {
    const recorded = await this.database.transaction(async (tx) => {
      const job = await this.store.lockJob(tx, fence);
      if (job === null) return false;
      const { blob, contentType, name, ...place } = draft;
      const assetId = await this.assets.mintOutput(tx, {
        jobId: fence.jobId,
        blob,
        name,
        contentType,
        expiresAt: job.expiresAt,
      });
      const type = outputTypeOf(contentType, name);
      const replaced = await this.store.put(tx, fence, { ...place, name, type, assetId });
      if (replaced !== null) await this.assets.retireOutput(tx, job.accountId, replaced);
      return true;
    });
    if (recorded) this.signals.outputRecorded(fence.jobId, draft.ordinal);
    return recorded;
  }
}
