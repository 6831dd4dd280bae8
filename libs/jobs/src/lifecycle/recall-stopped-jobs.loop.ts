import type { Statements } from '@millrace/database';
import type { ItemSweep, Loop, LoopReport } from '@millrace/platform';
import { listStoppedJobs, type DueJob } from './due-jobs.store';
import { sweepJobsTogether } from './job-sweep';
import { recallFromStopped } from './release.store';

const BATCH = 500;

/** Takes back from the lanes of stopped deployments what was dispatched while they were being stopped. */
export class RecallStoppedJobsLoop implements Loop {
  readonly name = 'recall-stopped-jobs';
  readonly everyMs = 2_000;
  private readonly sweep: ItemSweep<DueJob>;

  constructor(database: Statements) {
    this.sweep = sweepJobsTogether(
      BATCH,
      (after, limit) => listStoppedJobs(database, after, limit),
      (ids) => recallFromStopped(database, ids),
    );
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
