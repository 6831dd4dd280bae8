import type { Loop } from '@millrace/platform';
import type { BlobService } from '../records';

const BATCH = 100;
/** Deletions under way at once. */
const CONCURRENCY = 8;

/** Removes blobs, bytes and record, that no asset has referred to throughout the grace. */
export class SweepBlobsLoop implements Loop {
  readonly name = 'sweep-blobs';
  readonly everyMs = 60_000;

  constructor(
    private readonly blobs: BlobService,
    private readonly graceSeconds: number,
  ) {}

  /** @throws the first fault of the store, after all others of the batch were removed; the next run takes up the rest. */
  async runOnce(): Promise<number> {
    const condemned = await this.blobs.condemn(this.graceSeconds, BATCH);
    const faults: unknown[] = [];
    const removeRest = async (): Promise<void> => {
      for (let blob = condemned.pop(); blob !== undefined; blob = condemned.pop()) {
        await this.blobs.remove(blob).catch((error: unknown) => faults.push(error));
      }
    };
    const count = condemned.length;
    await Promise.all(Array.from({ length: CONCURRENCY }, removeRest));
    if (faults.length > 0) throw faults[0];
    return count;
  }
}
