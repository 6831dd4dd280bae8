import { rejoinedPass } from './rejoined-pass.store';
import { statementPart, type StatementPart } from '@millrace/database';

/**
 * The one job that `job` yields at most leaves its account's queue: it has ended. The new counters are made from the locked
 * row: an UPDATE first makes its row from the version in its snapshot and checks the constraints on that, and a dispatch that
 * the statement waited for is not in its snapshot. Where the queue itself is newer than that, because the job has moved to another pool
 * meanwhile, a function finds it.
 *
 * @param job `from_delivery` is where it was before it ended.
 * @returns the job once its queue is written, for what must lock after it: parts run in no order of their own.
 */
export function leaveRotationPart<Column extends string>(
  job: StatementPart<Column | 'pool_id' | 'account_id' | 'from_delivery'>,
): StatementPart<Column> {
  const now = statementPart('queue_now')`
    SELECT q.pool_id, q.account_id, ${rejoinedPass} AS pass, q.waiting - CASE WHEN job.from_delivery = 'waiting' THEN 1 ELSE 0 END AS waiting,
      q.in_flight - CASE WHEN job.from_delivery = 'waiting' THEN 0 ELSE 1 END AS in_flight
    FROM ${job} job JOIN account_queues q ON q.pool_id = job.pool_id AND q.account_id = job.account_id
    JOIN pools p ON p.id = q.pool_id FOR NO KEY UPDATE OF q`;
  const queue = statementPart('queue')`
    UPDATE account_queues q SET waiting = n.waiting, in_flight = n.in_flight, pass = n.pass
    FROM ${now} n WHERE q.pool_id = n.pool_id AND q.account_id = n.account_id
    RETURNING 1`;
  return statementPart<Column>('ended')`
    SELECT job.* FROM ${job} job CROSS JOIN (SELECT count(*) AS rows FROM ${queue}) AS written
    WHERE written.rows > 0 OR leave_queue(job.pool_id, job.account_id, job.from_delivery = 'waiting') IS NOT NULL`;
}
