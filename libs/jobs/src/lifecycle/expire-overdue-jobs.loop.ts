import type { Loop } from '@millrace/platform';
import type { Lifecycle } from './lifecycle.service';

const BATCH = 100;

/** Ends jobs that have not ended by their execution deadline, or whose attempt takes longer than it may. */
export class ExpireOverdueJobsLoop implements Loop {
  readonly name = 'expire-overdue-jobs';
  readonly everyMs = 1_000;

  constructor(private readonly lifecycle: Lifecycle) {}

  async runOnce(): Promise<number> {
    return (await this.lifecycle.expireOverdue(BATCH)) + (await this.lifecycle.endOvertime(BATCH));
  }
}
