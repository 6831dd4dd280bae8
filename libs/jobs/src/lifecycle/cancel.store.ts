import { statementPart, type Statements } from '@millrace/database';
import { isInScope, type JobScope, type MovedJob } from '../state';
import { runMove, transitionPart, type MovedColumn } from './moved-job.store';

/** Ask a running job to stop: `canceling`. @returns null when it does not run. */
export async function requestCancel(statements: Statements, scope: JobScope, jobId: string): Promise<MovedJob | null> {
  const job = statementPart<MovedColumn>('job')`
    UPDATE jobs j SET status = 'canceling', seq = j.seq + 1, updated_at = now()
    WHERE j.id = ${jobId}::uuid AND ${isInScope(scope)} AND j.status = 'running'
    RETURNING j.*, 'running' AS from_status`;
  return runMove(statements, job, [transitionPart(job, 'cancel requested')]);
}
