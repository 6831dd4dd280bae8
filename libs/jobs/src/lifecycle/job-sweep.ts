import { isStatementTimeout, isTransient } from '@millrace/database';
import { ItemSweep } from '@millrace/platform';
import type { MovedJob } from '../state';
import type { DueJob } from './due-jobs.store';

const BATCH = 100;
/** Jobs moved at once; a process has some ten connections. */
const CONCURRENCY = 5;
/** Short: a customer waits for the job, and what failed was rarely the job itself. */
const REST = { firstMs: 1_000, longestMs: 60_000 };

/**
 * A sweep that moves the jobs that are due, each alone.
 *
 * @param page the next of them. @param after turn of the last one; null: from the first.
 * @param move returns null when the job was moved meanwhile.
 */
export function sweepJobs<Job extends DueJob>(
  page: (after: string | null, limit: number) => Promise<Job[]>,
  move: (job: Job) => Promise<MovedJob | null>,
): ItemSweep<Job> {
  return new ItemSweep({
    limit: BATCH,
    concurrency: CONCURRENCY,
    rest: REST,
    page,
    keyOf: ({ id }) => id,
    turnOf: ({ turn }) => turn,
    work: async (job) => (await move(job)) !== null,
  });
}

/**
 * A sweep that moves or deletes the jobs that are due, many in one statement.
 *
 * @param workOnAll does all of them or none, and returns how many it changed.
 */
export function sweepJobsTogether(
  limit: number,
  page: (after: string | null, limit: number) => Promise<DueJob[]>,
  workOnAll: (ids: string[]) => Promise<number>,
): ItemSweep<DueJob> {
  return new ItemSweep({
    limit,
    rest: REST,
    page,
    keyOf: ({ id }) => id,
    turnOf: ({ turn }) => turn,
    workOnAll: (jobs) => workOnAll(jobs.map(({ id }) => id)),
    isOutage: isTransient,
    isTooLong: isStatementTimeout,
  });
}
