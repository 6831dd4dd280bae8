import type { Statements } from '@millrace/database';
import type { ItemSweep, Loop, LoopReport } from '@millrace/platform';
import { listOverdueJobs, type DueJob } from './due-jobs.store';
import { sweepJobs } from './job-sweep';
import type { Lifecycle } from './lifecycle.service';

/** Ends jobs that have not ended by their execution deadline. */
export class ExpireOverdueJobsLoop implements Loop {
  readonly name = 'expire-overdue-jobs';
  readonly everyMs = 1_000;
  private readonly sweep: ItemSweep<DueJob>;

  constructor(database: Statements, lifecycle: Pick<Lifecycle, 'expire'>) {
    this.sweep = sweepJobs(
      (after, limit) => listOverdueJobs(database, after, limit),
      ({ id }) => lifecycle.expire(id),
    );
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
