import { Prisma } from '@prisma/client';
import type { JobStatus } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { JobScope } from '../state';
import type { BatchRecord } from './batch';
import { FIRST_REFUSED, columns, isInScope, recordOf, type BatchRow } from './batch.store';

/** A job of a batch that has ended. */
export interface EndedJob {
  jobId: string;
  index: number;
  status: JobStatus;
  completedAt: Date;
}

/** A batch and those of its jobs that have ended lately, as of one moment. */
export interface FollowedBatch {
  batch: BatchRecord;
  /** That moment, by PostgreSQL's clock. */
  at: Date;
  /** Only ends after this were looked for. */
  from: Date;
  /** In their places. */
  jobs: EndedJob[];
}

type FollowedRow = BatchRow & {
  at: Date;
  from: Date;
  endedJobs: (Omit<EndedJob, 'completedAt'> & { completedAt: string })[];
};

/** The last answer to a statement, and the commit of its transaction. */
const COMMIT_MARGIN_MS = 5_000;

/**
 * How long after the time that an end has it can be committed, in milliseconds: its transaction takes no longer than one statement may
 * (`MILLRACE_DATABASE_TIMEOUT_MS`, which all processes have alike).
 */
export function overlapMsOf({ timeoutMs }: Pick<Database, 'timeoutMs'>): number {
  return timeoutMs + COMMIT_MARGIN_MS;
}

/**
 * A batch with its jobs that ended after a time, and some that ended shortly before it: the time of an end is that at which its
 * statement began, so that a job can be committed later than one that ended after it.
 *
 * @param since null: before now.
 * @param overlapMs how far before it is looked (`overlapMsOf`).
 * @returns null when the batch cannot be read there.
 */
export async function followBatch(
  statements: Statements,
  scope: JobScope,
  id: string,
  { since, overlapMs }: { since: Date | null; overlapMs: number },
): Promise<FollowedBatch | null> {
  const from = Prisma.sql`coalesce(${since}::timestamptz, now()) - make_interval(secs => ${overlapMs / 1_000}::float8)`;
  const [row] = await statements.rows<FollowedRow>(Prisma.sql`
    SELECT ${columns(FIRST_REFUSED)}, now() AS at, ${from} AS from, (
      SELECT coalesce(json_agg(json_build_object('jobId', j.id, 'index', j.batch_index, 'status', j.status,
        'completedAt', j.completed_at) ORDER BY j.completed_at, j.batch_index), '[]'::json)
      FROM jobs j
      WHERE j.batch_id = b.id AND j.batch_index IS NOT NULL AND j.delivery = 'done' AND j.completed_at > ${from}
    ) AS ended_jobs
    FROM batches b WHERE b.id = ${id}::uuid AND ${isInScope(scope)}`);
  if (row === undefined) return null;
  const { at, from: lookedFrom, endedJobs, ...batch } = row;
  const jobs = endedJobs.map((job) => ({ ...job, completedAt: new Date(job.completedAt) }));
  return { batch: recordOf(batch), at, from: lookedFrom, jobs };
}
