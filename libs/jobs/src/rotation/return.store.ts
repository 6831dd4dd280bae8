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

/**
 * Of the queues of these jobs those that no other statement has locked, held until the transaction ends. One that moves jobs of many accounts moves
 * those of free queues alone: while it waited for one queue it would keep all others from their accounts. What it leaves, a loop takes later.
 */
export function freeQueuesPart(jobs: StatementPart<'pool_id' | 'account_id'>): StatementPart<'pool_id' | 'account_id'> {
  return statementPart<'pool_id' | 'account_id'>('free_queue')`
    SELECT q.pool_id, q.account_id FROM account_queues q
    JOIN (SELECT DISTINCT pool_id, account_id FROM ${jobs}) asked ON q.pool_id = asked.pool_id AND q.account_id = asked.account_id
    FOR NO KEY UPDATE OF q SKIP LOCKED`;
}
