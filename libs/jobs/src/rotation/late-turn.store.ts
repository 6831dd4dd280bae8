import { statementPart, type StatementPart } from '@millrace/database';
import { rejoinedPass } from './rejoined-pass.store';
import { STRIDE } from './turn.store';

/**
 * A turn for a job that was set aside after its first turn and is dispatched now. `job` has one row at most. The account pays for the second
 * turn as it does for a job that was given back: without it, an account with many jobs set aside would get more than its share of the workers
 * that can run these.
 */
export function takeLateTurnPart(job: StatementPart<'pool_id' | 'account_id'>): StatementPart {
  const turn = statementPart('late_turn')`
    UPDATE account_queues q SET pass = ${rejoinedPass} + ${STRIDE}::bigint / q.weight
    FROM ${job} job JOIN pools p ON p.id = job.pool_id WHERE q.pool_id = job.pool_id AND q.account_id = job.account_id
    RETURNING q.pool_id, q.pass - ${STRIDE}::bigint / q.weight AS reached`;
  return statementPart('virtual_time')`
    UPDATE pools p SET virtual_time = turn.reached FROM ${turn} turn WHERE p.id = turn.pool_id AND p.virtual_time < turn.reached
    RETURNING 1`;
}
