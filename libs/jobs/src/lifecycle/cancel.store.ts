import { statementPart, type Statements } from '@millrace/database';
import { deliveryOfOne, isInScope, type JobScope, type MovedJob } from '../state';
import { runMove, transitionPart, type MovedColumn } from './moved-job.store';

/** Ask a running job to stop: `canceling`. @returns null when it does not run. */
export async function requestCancel(statements: Statements, scope: JobScope, jobId: string): Promise<MovedJob | null> {
  const job = statementPart<MovedColumn>('job')`
    UPDATE jobs j SET status = 'canceling', seq = j.seq + 1, updated_at = now(),
      -- A pause ends at once, also where its canceler does not live to end the job.
      retry_at = CASE WHEN ${deliveryOfOne} = 'paused' THEN least(j.retry_at, now()) END
    WHERE j.id = ${jobId}::uuid AND ${isInScope(scope)} AND j.status = 'running'
    RETURNING j.*, 'running' AS from_status`;
  return runMove(statements, job, [transitionPart(job, 'cancel requested')]);
}
