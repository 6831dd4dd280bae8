import type { Statements } from '@millrace/database';
import type { ItemSweep, Loop, LoopReport } from '@millrace/platform';
import { listLostJobs, type LostJob } from './due-jobs.store';
import { sweepJobs } from './job-sweep';
import type { Lifecycle } from './lifecycle.service';

/** Finds attempts whose lease has run out, and gives their jobs the next attempt or their end. */
export class RescueLostJobsLoop implements Loop {
  readonly name = 'rescue-lost-jobs';
  readonly everyMs = 500;
  private readonly sweep: ItemSweep<LostJob>;

  constructor(database: Statements, lifecycle: Pick<Lifecycle, 'rescue'>) {
    this.sweep = sweepJobs(
      (after, limit) => listLostJobs(database, after, limit),
      (job) => lifecycle.rescue(job),
    );
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
