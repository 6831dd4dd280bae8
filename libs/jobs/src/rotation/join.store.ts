import { statementPart, type StatementPart } from '@millrace/database';

/** The reason with which a statement refuses itself when the account has too many jobs waiting. */
export const QUEUE_FULL = 'queue_full';

/** A job that comes into a pool's rotation, and what its account's limits make of its place there. */
export interface Joining {
  poolId: string;
  accountId: string;
  weight: number;
  runningLimit: number;
  /** Jobs of the account that may wait in the pool. */
  queueLimit: number;
}

/**
 * Refuses the statement early when the account has as many jobs waiting as may, without a lock: `joinRotationPart` decides, but
 * what is written before it costs more than this look.
 *
 * @param after a part that must have yielded its row first.
 */
export function hasRoomPart({ poolId, accountId, queueLimit }: Joining, after: StatementPart): StatementPart {
  return statementPart('room')`
    SELECT FROM ${after} WHERE coalesce((
      SELECT q.waiting FROM account_queues q WHERE q.pool_id = ${poolId} AND q.account_id = ${accountId}::uuid
    ), 0) < ${queueLimit} OR refuse(${QUEUE_FULL})`;
}

/**
 * One more job of the account waits in the pool; refuses the statement when as many wait as may. Yields how many wait now.
 *
 * An account that could have no turn joins at the pool's present virtual time (`rejoined-pass.store.ts`). Its
 * weight and running limit are set with its first job, and by `AccountQueues.applyLimits` from then on: what a request knows
 * of them may be older than their last change.
 *
 * @param after a part that must have yielded its row first.
 */
export function joinRotationPart(joining: Joining, after: StatementPart): StatementPart<'waiting'> {
  const { poolId, accountId, weight, runningLimit, queueLimit } = joining;
  return statementPart<'waiting'>('queue')`
    INSERT INTO account_queues AS q (pool_id, account_id, waiting, weight, running_limit, pass)
    SELECT p.id, ${accountId}::uuid, 1, ${weight}, ${runningLimit}, p.virtual_time
    FROM pools p, ${after} WHERE p.id = ${poolId} AND (${queueLimit} > 0 OR refuse(${QUEUE_FULL}))
    ON CONFLICT (pool_id, account_id) DO UPDATE
      SET waiting = q.waiting + 1,
          pass = CASE WHEN q.eligible THEN q.pass ELSE greatest(q.pass, excluded.pass) END
      WHERE q.waiting < ${queueLimit} OR refuse(${QUEUE_FULL})
    RETURNING q.waiting`;
}
