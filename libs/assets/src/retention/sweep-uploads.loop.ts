import type { Loop } from '@millrace/platform';
import type { ResumableUploadService } from '../upload';

const BATCH = 50;

/** Drops resumable uploads that were not completed in time, with the parts that arrived. */
export class SweepUploadsLoop implements Loop {
  readonly name = 'sweep-uploads';
  readonly everyMs = 600_000;

  constructor(private readonly uploads: Pick<ResumableUploadService, 'sweep'>) {}

  runOnce(): Promise<number> {
    return this.uploads.sweep(BATCH);
  }
}
