import { composeStatement, statementPart, type Statements } from '@millrace/database';
import { recordBatchEndPart } from '@millrace/webhooks';

/**
 * Record the end of batches whose jobs have all ended, and a message of each for the endpoints of its account, in one statement: of
 * two that look at once one records it, and a process that dies has recorded both or neither.
 *
 * A batch that is locked is left to a later run, where it is still one whose jobs have all ended: a retry locks its batch for as long as
 * it records jobs, and the ends of others do not wait for that. A retry that commits between the statement's beginning and the lock would
 * not be seen in the jobs: it is seen by the number of retries, which has to be that of the reading.
 *
 * @returns how many ends were recorded.
 */
export async function recordEnds(statements: Statements, limit: number): Promise<number> {
  const ready = statementPart<'id' | 'retries' | 'ended_at'>('ready')`
    SELECT b.id, b.retries, (
      SELECT max(j.completed_at) FROM jobs j WHERE j.batch_id = b.id AND j.batch_index IS NOT NULL
    ) AS ended_at
    FROM batches b
    WHERE b.completed_at IS NULL AND NOT EXISTS (SELECT FROM jobs j WHERE j.batch_id = b.id AND j.delivery <> 'done')
    ORDER BY b.id LIMIT ${limit}`;
  const locked = statementPart<'id' | 'ended_at'>('locked')`
    SELECT b.id, ready.ended_at FROM ${ready} ready
    JOIN batches b ON b.id = ready.id AND b.retries = ready.retries AND b.completed_at IS NULL
    ORDER BY b.id FOR UPDATE OF b SKIP LOCKED`;
  const ended = statementPart<'id' | 'account_id' | 'retries'>('ended')`
    UPDATE batches b SET completed_at = coalesce(locked.ended_at, now())
    FROM ${locked} locked WHERE b.id = locked.id RETURNING b.id, b.account_id, b.retries`;
  const rows = await statements.rows(composeStatement([recordBatchEndPart(ended)])`SELECT id FROM ${ended}`);
  return rows.length;
}
