import { Prisma } from '@prisma/client';
import type { JobStatus } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** A job of a batch that has ended. */
export interface EndedJob {
  jobId: string;
  index: number;
  status: JobStatus;
  completedAt: Date;
}

/** Jobs of a batch that have ended lately, as of a time of PostgreSQL's. */
export interface LatelyEnded {
  at: Date;
  jobs: EndedJob[];
}

/**
 * The time of an end is that at which its statement began: a job can be committed later than one that ended after it, by the length
 * of a transaction.
 */
const OVERLAP_SECONDS = 10;

/** Jobs in their places that ended after a time, and some that ended shortly before it. @param since null: before now. */
export async function endedLately(statements: Statements, batchId: string, since: Date | null): Promise<LatelyEnded> {
  const [row] = await statements.rows<{ at: Date; jobs: (Omit<EndedJob, 'completedAt'> & { completedAt: string })[] }>(
    Prisma.sql`
      SELECT now() AS at, coalesce(json_agg(json_build_object('jobId', j.id, 'index', j.batch_index, 'status', j.status,
        'completedAt', j.completed_at) ORDER BY j.completed_at, j.batch_index), '[]'::json) AS jobs
      FROM jobs j
      WHERE j.batch_id = ${batchId}::uuid AND j.batch_index IS NOT NULL AND j.delivery = 'done'
        AND j.completed_at > coalesce(${since}::timestamptz, now()) - make_interval(secs => ${OVERLAP_SECONDS})`,
  );
  if (row === undefined) throw new Error('PostgreSQL returned no time');
  return { at: row.at, jobs: row.jobs.map((job) => ({ ...job, completedAt: new Date(job.completedAt) })) };
}

/** What was sent and ended before this can be forgotten: it is not read again. */
export function forgetBefore(since: Date): number {
  return since.getTime() - OVERLAP_SECONDS * 1_000;
}
