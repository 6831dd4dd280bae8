import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { boundedFailure, isInScope, type JobScope } from '../state';
import type { AttemptsRow, JobRetries, RecordedAttempt } from './job-attempts';

/** An attempt inside a document, in which a time is a text. */
type AttemptRow = Omit<RecordedAttempt, 'startedAt' | 'endedAt'> & { startedAt: string; endedAt: string | null };

type RetryRow = Omit<JobRetries, 'nextAt'> & { nextAt: string | null };

function timeOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

/** All attempts of a job, and what their charge follows from. @returns null where the scope has no such job. */
export async function findAttempts(statements: Statements, scope: JobScope, id: string): Promise<AttemptsRow | null> {
  const [row] = await statements.rows<
    Omit<AttemptsRow, 'attempts' | 'retry'> & { attempts: AttemptRow[]; retry: RetryRow | null }
  >(Prisma.sql`
    SELECT j.status, j.error, (j.price_micros_per_second > 0) AS has_price, coalesce(
        j.charged_micros > 0 AND j.billable_ms > (SELECT coalesce(sum(t.billed_ms), 0) FROM job_attempts t WHERE t.job_id = j.id), false
      ) AS is_charged,
      CASE WHEN j.retry_max > 0 THEN json_build_object('max', j.retry_max, 'on', j.retry_codes, 'pause_seconds', j.retry_pause_seconds,
        'used', j.retries, 'nextAt', CASE WHEN j.delivery = 'paused' THEN j.retry_at END) END AS retry,
      coalesce((
        SELECT json_agg(json_build_object('number', t.attempt, 'startedAt', t.claimed_at, 'endedAt', t.ended_at,
          'outcome', t.outcome, 'engineMs', t.engine_ms, 'error', t.error, 'billedMs', t.billed_ms) ORDER BY t.attempt)
        FROM job_attempts t WHERE t.job_id = j.id
      ), '[]'::json) AS attempts
    FROM jobs j WHERE j.id = ${id}::uuid AND ${isInScope(scope)}`);
  if (row === undefined) return null;
  const attempts = row.attempts.map(({ startedAt, endedAt, error, ...facts }) => ({
    ...facts,
    error: error && boundedFailure(error),
    startedAt: new Date(startedAt),
    endedAt: timeOf(endedAt),
  }));
  const error = row.error && boundedFailure(row.error);
  return { ...row, error, attempts, retry: row.retry && { ...row.retry, nextAt: timeOf(row.retry.nextAt) } };
}
