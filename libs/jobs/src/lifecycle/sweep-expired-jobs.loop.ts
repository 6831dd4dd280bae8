import type { Statements } from '@millrace/database';
import type { ItemSweep, Loop, LoopReport } from '@millrace/platform';
import { deleteExpiredJobs, listExpiredJobs, type DueJob } from './due-jobs.store';
import { sweepJobsTogether } from './job-sweep';

const BATCH = 200;

/** Deletes jobs past their retention with all that belongs to them. Their output assets expire at the same moment. */
export class SweepExpiredJobsLoop implements Loop {
  readonly name = 'sweep-expired-jobs';
  readonly everyMs = 15_000;
  private readonly sweep: ItemSweep<DueJob>;

  constructor(database: Statements) {
    this.sweep = sweepJobsTogether(
      BATCH,
      (after, limit) => listExpiredJobs(database, after, limit),
      (ids) => deleteExpiredJobs(database, ids),
    );
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }
}
