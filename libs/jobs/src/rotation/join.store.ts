import { Prisma } from '@prisma/client';
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

/** The pass of a row that is there already: as `rejoinedPass`, with virtual time in the row that is to be inserted. */
const joinedPass = Prisma.sql`CASE WHEN q.eligible THEN q.pass ELSE greatest(q.pass, excluded.pass) END`;

/** The head of a row that is there already, where it is known. A job may come before it: ids are made before the row is locked, or when a request begins. */
const joinedHead = Prisma.sql`CASE WHEN q.head_id IS NOT NULL THEN least(q.head_id, excluded.head_id) END`;

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
 * The account has a row in the pool's rotation, to which jobs can refer before they are counted in it, and no sweep takes it until the
 * transaction ends. A row that is there is not locked against what counts in it.
 */
export function keepRotationPart({ poolId, accountId, weight, runningLimit }: Joining): StatementPart {
  const kept = statementPart('kept_queue')`
    SELECT 1 AS kept FROM account_queues WHERE pool_id = ${poolId} AND account_id = ${accountId}::uuid FOR KEY SHARE`;
  return statementPart('made_queue')`
    INSERT INTO account_queues (pool_id, account_id, waiting, weight, running_limit, pass)
    SELECT p.id, ${accountId}::uuid, 0, ${weight}, ${runningLimit}, p.virtual_time FROM pools p
    WHERE p.id = ${poolId} AND NOT EXISTS (SELECT FROM ${kept}) ON CONFLICT DO NOTHING`;
}

/**
 * One more job of the account waits in the pool; refuses the statement when as many wait as may. Yields how many wait now.
 *
 * An account that could have no turn joins at the pool's present virtual time (`rejoined-pass.store.ts`). Its
 * weight and running limit are set with its first job, and by `AccountQueues.applyLimits` from then on: what a request knows
 * of them may be older than their last change.
 *
 * @param job the id of the job; of the first, where there are more.
 * @param after a part that must have yielded its row first.
 * @param jobs how many more.
 */
export function joinRotationPart(
  joining: Joining,
  job: StatementPart<'id'>,
  after: StatementPart,
  jobs = 1,
): StatementPart<'waiting'> {
  const { poolId, accountId, weight, runningLimit, queueLimit } = joining;
  return statementPart<'waiting'>('queue')`
    INSERT INTO account_queues AS q (pool_id, account_id, waiting, weight, running_limit, pass, head_id)
    SELECT p.id, ${accountId}::uuid, ${jobs}, ${weight}, ${runningLimit}, p.virtual_time, job.id
    FROM pools p, ${job} job, ${after} WHERE p.id = ${poolId} AND (${queueLimit}::int >= ${jobs}::int OR refuse(${QUEUE_FULL}))
    ON CONFLICT (pool_id, account_id) DO UPDATE
      SET waiting = q.waiting + ${jobs},
          pass = ${joinedPass},
          head_id = ${joinedHead}
      WHERE q.waiting + ${jobs} <= ${queueLimit} OR refuse(${QUEUE_FULL})
    RETURNING q.waiting`;
}

/** Jobs that come into the rotations of their pools together; `place` is their order. */
export type ManyJoining = StatementPart<
  'place' | 'id' | 'pool_id' | 'account_id' | 'weight' | 'running_limit' | 'queue_limit'
>;

/**
 * Many more jobs wait, as if `joinRotationPart` had let them in one after the other: one change of each account's row by the
 * number of its jobs, in the order of pools and accounts, so that no two statements wait for each other in a circle. Refuses
 * the statement when for any of the jobs as many wait before it as may. Yields each job, and how many wait before it.
 *
 * @param after a part that must have run first.
 */
export function joinRotationsPart(jobs: ManyJoining, after: StatementPart): StatementPart<'place' | 'ahead'> {
  const accounts = statementPart('joining')`
    SELECT DISTINCT ON (pool_id, account_id) pool_id, account_id, weight, running_limit,
      (count(*) OVER (PARTITION BY pool_id, account_id))::int AS jobs,
      (min(id::text) OVER (PARTITION BY pool_id, account_id))::uuid AS head_id
    FROM ${jobs} ORDER BY pool_id, account_id, place`;
  const queues = statementPart('queues')`
    INSERT INTO account_queues AS q (pool_id, account_id, waiting, weight, running_limit, pass, head_id)
    SELECT p.id, a.account_id, a.jobs, a.weight, a.running_limit, p.virtual_time, a.head_id
    FROM ${accounts} a JOIN pools p ON p.id = a.pool_id, (SELECT count(*) FROM ${after}) AS done
    ORDER BY p.id, a.account_id
    ON CONFLICT (pool_id, account_id) DO UPDATE
      SET waiting = q.waiting + excluded.waiting,
          pass = ${joinedPass},
          head_id = ${joinedHead}
    RETURNING q.pool_id, q.account_id, q.waiting`;
  const placed = statementPart('placed')`
    SELECT j.place, j.queue_limit,
      (q.waiting - count(*) OVER (PARTITION BY j.pool_id, j.account_id ORDER BY j.place DESC))::int AS ahead
    FROM ${jobs} j JOIN ${queues} q ON q.pool_id = j.pool_id AND q.account_id = j.account_id`;
  return statementPart<'place' | 'ahead'>('joined')`
    SELECT place, ahead FROM ${placed} WHERE ahead < queue_limit OR refuse(${QUEUE_FULL})`;
}
