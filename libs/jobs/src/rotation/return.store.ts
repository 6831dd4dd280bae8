import { rejoinedPass } from './rejoined-pass.store';
import { statementPart, type StatementPart } from '@millrace/database';

/**
 * The jobs that `jobs` yields wait again, each in its place by priority and age, so that the head is not known (`follow-turn.sql`); a turn that was taken for
 * them stays taken.
 */
export function returnToRotationPart(jobs: StatementPart<'pool_id' | 'account_id'>): StatementPart {
  return statementPart('queue')`
    UPDATE account_queues q SET in_flight = q.in_flight - c.jobs, waiting = q.waiting + c.jobs, pass = ${rejoinedPass}
    FROM pools p, (SELECT pool_id, account_id, count(*)::int AS jobs FROM ${jobs} GROUP BY pool_id, account_id) c
    WHERE p.id = c.pool_id AND q.pool_id = c.pool_id AND q.account_id = c.account_id`;
}
