import { statementPart, type StatementPart } from '@millrace/database';
import { rejoinedPass } from './rejoined-pass.store';
import { STRIDE } from './turn.store';

/**
 * The one job that `job` yields at most was set aside after its turn, and runs now: its account takes a turn again, as for a job that has come back
 * to wait, so that accounts of which many are set aside share the workers for these as they share the others.
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
