import type { Statements } from '@millrace/database';
import type { ItemSweep, Loop, LoopReport } from '@millrace/platform';
import { listOvertimeJobs, type DueJob } from './due-jobs.store';
import { sweepJobs } from './job-sweep';
import type { Lifecycle } from './lifecycle.service';

/** Ends jobs whose attempt takes longer than it may, and is not stopped by its worker. */
export class EndOvertimeJobsLoop implements Loop {
  readonly name = 'end-overtime-jobs';
  readonly everyMs = 1_000;
  private readonly sweep: ItemSweep<DueJob>;

  constructor(database: Statements, lifecycle: Pick<Lifecycle, 'endOvertime'>, attemptLimitSeconds: number) {
    this.sweep = sweepJobs(
      (after, limit) => listOvertimeJobs(database, attemptLimitSeconds, after, limit),
      ({ id }) => lifecycle.endOvertime(id),
    );
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
