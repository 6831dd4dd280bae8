import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import { blobKey, type BlobService, type CondemnedBlob } from '../records';

const BATCH = 100;
/** Deletions under way at once. */
const CONCURRENCY = 8;

/** Removes blobs, bytes and record, that no asset has referred to throughout the grace. */
export class SweepBlobsLoop implements Loop {
  readonly name = 'sweep-blobs';
  readonly everyMs = 60_000;
  private readonly sweep: ItemSweep<CondemnedBlob>;

  constructor(blobs: BlobService, graceSeconds: number) {
    this.sweep = new ItemSweep<CondemnedBlob>({
      limit: BATCH,
      concurrency: CONCURRENCY,
      page: (after, limit) => blobs.condemn(graceSeconds, after, limit),
      keyOf: blobKey,
      turnOf: (blob) => blob.turn,
      work: async (blob) => {
        await blobs.remove(blob);
        return true;
      },
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
