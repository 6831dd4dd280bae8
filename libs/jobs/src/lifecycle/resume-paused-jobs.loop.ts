import type { Statements } from '@millrace/database';
import type { ItemSweep, Loop, LoopReport } from '@millrace/platform';
import { listPausedJobs, type DueJob } from './due-jobs.store';
import { sweepJobsTogether } from './job-sweep';
import type { Lifecycle } from './lifecycle.service';

const BATCH = 100;

/** Has jobs wait for their next attempt whose pause before a retry is over. */
export class ResumePausedJobsLoop implements Loop {
  readonly name = 'resume-paused-jobs';
  readonly everyMs = 500;
  private readonly sweep: ItemSweep<DueJob>;

  constructor(database: Statements, lifecycle: Pick<Lifecycle, 'resumePaused'>) {
    this.sweep = sweepJobsTogether(
      BATCH,
      (after, limit) => listPausedJobs(database, after, limit),
      (ids) => lifecycle.resumePaused(ids),
    );
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
