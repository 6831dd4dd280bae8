import type { Loop } from '@millrace/platform';
import type { Lifecycle } from './lifecycle.service';

/** Takes back from the lanes of stopped deployments what was dispatched while they were being stopped. */
export class RecallStoppedJobsLoop implements Loop {
  readonly name = 'recall-stopped-jobs';
  readonly everyMs = 2_000;

  constructor(private readonly lifecycle: Lifecycle) {}

  runOnce(): Promise<number> {
    return this.lifecycle.recallFromStopped();
  }
}
