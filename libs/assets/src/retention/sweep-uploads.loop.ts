import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { ResumableUpload, ResumableUploadService } from '../upload';

const BATCH = 50;

/** Drops resumable uploads that were not completed in time, with the parts that arrived. */
export class SweepUploadsLoop implements Loop {
  readonly name = 'sweep-uploads';
  readonly everyMs = 600_000;
  private readonly sweep: ItemSweep<ResumableUpload>;

  constructor(uploads: Pick<ResumableUploadService, 'listExpired' | 'drop'>) {
    this.sweep = new ItemSweep({
      limit: BATCH,
      page: (after, limit) => uploads.listExpired(after, limit),
      keyOf: (upload) => upload.id,
      work: (upload) => uploads.drop(upload),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
