import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { isInScope, type JobScope } from '../state';
import type { AttemptsRow, RecordedAttempt } from './job-attempts';

/** An attempt inside a document, in which a time is a text. */
type AttemptRow = Omit<RecordedAttempt, 'startedAt' | 'endedAt'> & { startedAt: string; endedAt: string | null };

/** All attempts of a job, and what their charge follows from. @returns null where the scope has no such job. */
export async function findAttempts(statements: Statements, scope: JobScope, id: string): Promise<AttemptsRow | null> {
  const [row] = await statements.rows<Omit<AttemptsRow, 'attempts'> & { attempts: AttemptRow[] }>(Prisma.sql`
    SELECT j.status, j.error, (j.price_micros_per_second > 0) AS has_price, coalesce(j.charged_micros > 0, false) AS is_charged,
      coalesce((
        SELECT json_agg(json_build_object('number', t.attempt, 'startedAt', t.claimed_at, 'endedAt', t.ended_at,
          'outcome', t.outcome, 'engineMs', t.engine_ms) ORDER BY t.attempt)
        FROM job_attempts t WHERE t.job_id = j.id
      ), '[]'::json) AS attempts
    FROM jobs j WHERE j.id = ${id}::uuid AND ${isInScope(scope)}`);
  if (row === undefined) return null;
  const attempts = row.attempts.map(({ startedAt, endedAt, ...facts }) => ({
    ...facts,
    startedAt: new Date(startedAt),
    endedAt: endedAt === null ? null : new Date(endedAt),
  }));
  return { ...row, attempts };
}
