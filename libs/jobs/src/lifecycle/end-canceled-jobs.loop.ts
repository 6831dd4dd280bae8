import type { Statements } from '@millrace/database';
import type { ItemSweep, Loop, LoopReport } from '@millrace/platform';
import { listCanceledJobs, type DueJob } from './due-jobs.store';
import { sweepJobs } from './job-sweep';
import type { Lifecycle } from './lifecycle.service';

/** Ends jobs that are to be canceled between two attempts, and whose request was cut off before their end. */
export class EndCanceledJobsLoop implements Loop {
  readonly name = 'end-canceled-jobs';
  readonly everyMs = 500;
  private readonly sweep: ItemSweep<DueJob>;

  constructor(database: Statements, lifecycle: Pick<Lifecycle, 'endCanceled'>) {
    this.sweep = sweepJobs(
      (after, limit) => listCanceledJobs(database, after, limit),
      ({ id }) => lifecycle.endCanceled(id),
    );
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
