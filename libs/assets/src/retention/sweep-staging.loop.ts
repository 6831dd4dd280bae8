import type { Loop } from '@millrace/platform';
import type { BlobStore } from '../store';

const BATCH = 200;
/** Longer than any upload takes: a process that died left behind what is older. */
const STAGED_SECONDS = 86_400;

/** Removes bytes that were staged and neither placed nor discarded. */
export class SweepStagingLoop implements Loop {
  readonly name = 'sweep-staging';
  readonly everyMs = 600_000;

  constructor(
    private readonly store: Pick<BlobStore, 'sweepStaging'>,
    private readonly stagedSeconds = STAGED_SECONDS,
  ) {}

  runOnce(): Promise<number> {
    return this.store.sweepStaging(new Date(Date.now() - this.stagedSeconds * 1000), BATCH);
  }
}
