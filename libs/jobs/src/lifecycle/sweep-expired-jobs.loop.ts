import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import { deleteExpiredJobs } from './due-jobs.store';

const BATCH = 200;

/** Deletes jobs past their retention with all that belongs to them. Their output assets expire at the same moment. */
export class SweepExpiredJobsLoop implements Loop {
  readonly name = 'sweep-expired-jobs';
  readonly everyMs = 15_000;

  constructor(private readonly database: Statements) {}

  runOnce(): Promise<number> {
    return deleteExpiredJobs(this.database, BATCH);
  }
}
