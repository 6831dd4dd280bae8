import { Prisma } from '@prisma/client';
import { statementPart, storable, type StatementPart, type Statements } from '@millrace/database';
import type { Fence, JobLog } from '../state';

/**
 * Keep what an attempt has printed so far, in case its worker never reports the rest; also after another has ended the job.
 * Nothing happens once another attempt has begun, or the whole log is there.
 */
export async function keepLog(statements: Statements, { jobId, attempt }: Fence, log: JobLog): Promise<void> {
  await statements.execute(Prisma.sql`
    INSERT INTO job_logs AS l (job_id, text, truncated, complete, captured_at)
    SELECT j.id, ${storable(log.text)}, ${log.truncated}, false, now() FROM jobs j
    WHERE j.id = ${jobId}::uuid AND j.attempt = ${attempt} AND j.surface = 'deployment'
    ON CONFLICT (job_id) DO UPDATE
      SET text = excluded.text, truncated = excluded.truncated, captured_at = excluded.captured_at
      WHERE NOT l.complete`);
}

/**
 * The log with which a job ends. Every job of a deployment has one then (contract, 2.6): where no worker reports the whole,
 * what was kept of it stays, and a job that never ran printed nothing.
 */
export function lastLogPart(job: StatementPart<'id' | 'surface' | 'attempt'>, log: JobLog | null): StatementPart {
  if (log === null) {
    return statementPart('log')`
      INSERT INTO job_logs (job_id, text, truncated, complete, captured_at)
      SELECT id, '', false, attempt = 0, now() FROM ${job} WHERE surface = 'deployment'
      ON CONFLICT (job_id) DO NOTHING`;
  }
  return statementPart('log')`
    INSERT INTO job_logs (job_id, text, truncated, complete, captured_at)
    SELECT id, ${storable(log.text)}, ${log.truncated}, true, now() FROM ${job}
    ON CONFLICT (job_id) DO UPDATE
      SET text = excluded.text, truncated = excluded.truncated, complete = true, captured_at = excluded.captured_at`;
}
