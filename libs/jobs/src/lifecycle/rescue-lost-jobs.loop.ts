import type { Loop } from '@millrace/platform';
import type { Lifecycle } from './lifecycle.service';

const BATCH = 100;

/** Finds attempts whose lease has run out, and gives their jobs the next attempt or their end. */
export class RescueLostJobsLoop implements Loop {
  readonly name = 'rescue-lost-jobs';
  readonly everyMs = 500;

  constructor(private readonly lifecycle: Lifecycle) {}

  runOnce(): Promise<number> {
    return this.lifecycle.rescueLost(BATCH);
  }
}
