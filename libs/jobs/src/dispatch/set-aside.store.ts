import { Prisma } from '@prisma/client';
import type { DispatchMessage } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { dispatchedOf, rejoinedPass, type DispatchedJob, type DispatchedRow } from '../rotation';
import { deliveryOfOne, hasRoomAnywhere, isForAnother, isReady, isSetAside, lackedRoom, roomOfJob } from '../state';

/** What there is to say of an attempt that a worker wanted and did not get, and that nobody has. */
export interface Refusal {
  /** It is set aside for a worker that has room. False: that one has gone meanwhile, and the attempt is there to be claimed. */
  isSetAside: boolean;
  /** It was in the lane until now: another job may have its place there. */
  isNew: boolean;
  /** A worker that has room has nothing to do, and will take it when its message comes by. */
  isAwaited: boolean;
}

/** A worker, and how often the message that it has received was passed over for other jobs. */
export interface Receiver {
  workerId: string;
  poolId: string;
  passed: number;
}

/** Workers of the pool of the job `j` that have a cache and nothing to do, as `idle`: with how many attempts they take. */
const idleWorkers = (poolId: Prisma.Sql): Prisma.Sql => Prisma.sql`(
    SELECT other.id, other.model_cache_bytes, other.capacity - coalesce(busy.attempts, 0) AS slots FROM workers other
    LEFT JOIN (
      SELECT b.worker_id, count(*) AS attempts FROM jobs b
      WHERE b.pool_id = ${poolId} AND b.delivery = 'leased' GROUP BY b.worker_id
    ) busy ON busy.worker_id = other.id
    WHERE other.pool_id = ${poolId} AND ${isReady} AND other.model_cache_bytes IS NOT NULL AND other.capacity > coalesce(busy.attempts, 0)
  ) idle`;

/** An attempt of the set-aside job `j` can be taken now, and the worker `id` can hold so much. */
const fits = (id: Prisma.Sql, bytes: Prisma.Sql): Prisma.Sql => Prisma.sql`(
    ${bytes} >= j.room_bytes AND j.status IN ('queued', 'running') AND j.deadline_at > now() AND NOT ${lackedRoom(id)})`;

/** The SQL of jobs that are set aside: they wait for a worker that has room for their models, in no lane and in nobody's way. */
export class SetAsideStore {
  /** Whether any job of the pool is. */
  async isAny(statements: Statements, poolId: string): Promise<boolean> {
    const rows = await statements.rows(Prisma.sql`
      SELECT j.id FROM jobs j WHERE j.pool_id = ${poolId} AND ${isSetAside} LIMIT 1`);
    return rows.length > 0;
  }

  /**
   * Set an attempt aside that a worker did not get because it has no room for the models, and another of the pool has.
   *
   * @returns null where it is not there any more.
   */
  async put(
    statements: Statements,
    { jobId, attempt }: Pick<DispatchMessage, 'jobId' | 'attempt'>,
    { workerId, poolId }: Omit<Receiver, 'passed'>,
  ): Promise<Refusal | null> {
    const isThere = Prisma.sql`j.id = ${jobId}::uuid AND j.attempt = ${attempt} - 1 AND ${deliveryOfOne} = 'dispatched'`;
    const [refusal] = await statements.rows<Refusal>(Prisma.sql`
      WITH refused AS MATERIALIZED (
        SELECT j.*, ${isForAnother(workerId)} AS is_for_another FROM jobs j
        WHERE ${isThere} AND j.status IN ('queued', 'running') AND j.deadline_at > now()
      ), needed AS MATERIALIZED (
        SELECT j.id, ${roomOfJob} AS bytes FROM refused j WHERE j.is_for_another
      ), put AS (
        UPDATE jobs j SET dispatched_at = NULL, room_bytes = needed.bytes FROM needed
        WHERE j.id = needed.id AND ${isThere} AND j.dispatched_at IS NOT NULL
      )
      SELECT j.is_for_another AS is_set_aside, j.is_for_another AND j.dispatched_at IS NOT NULL AS is_new, EXISTS (
        SELECT FROM needed, ${idleWorkers(Prisma.sql`${poolId}`)}
        WHERE idle.model_cache_bytes >= needed.bytes AND NOT ${lackedRoom(Prisma.sql`idle.id`)}
      ) AS is_awaited FROM refused j`);
    return refusal ?? null;
  }

  /**
   * The set-aside job that a worker is to run before what it has received, if it has room for one: in the order of turns, as of jobs that wait.
   * A message is passed over as often as the pool has workers at most.
   */
  async next(statements: Statements, { workerId, poolId, passed }: Receiver): Promise<DispatchedJob | null> {
    const [row] = await statements.rows<DispatchedRow>(Prisma.sql`
      SELECT j.id, j.attempt + 1 AS attempt, j.traceparent, j.models
      FROM jobs j JOIN workers own ON own.id = ${workerId}::uuid AND own.pool_id = j.pool_id
      JOIN account_queues q ON q.pool_id = j.pool_id AND q.account_id = j.account_id JOIN pools p ON p.id = j.pool_id
      WHERE j.pool_id = ${poolId} AND ${isSetAside} AND ${fits(Prisma.sql`own.id`, Prisma.sql`own.model_cache_bytes`)}
        AND ${passed} < (SELECT count(*) FROM workers other WHERE other.pool_id = ${poolId} AND ${isReady})
      ORDER BY ${rejoinedPass}, j.priority DESC, j.id LIMIT 1`);
    return row === undefined ? null : dispatchedOf(row);
  }

  /** As many as workers of the pool have room for and nothing else to do, in the order of turns. Which worker has their models does not matter. */
  async listAwaited(statements: Statements, poolId: string): Promise<DispatchedJob[]> {
    const rows = await statements.rows<DispatchedRow>(Prisma.sql`
      WITH idle AS MATERIALIZED (SELECT * FROM ${idleWorkers(Prisma.sql`${poolId}`)}), awaited AS MATERIALIZED (
        SELECT j.id, j.attempt + 1 AS attempt, j.traceparent, j.room_bytes, j.priority, ${rejoinedPass} AS pass
        FROM jobs j JOIN account_queues q ON q.pool_id = j.pool_id AND q.account_id = j.account_id JOIN pools p ON p.id = j.pool_id
        WHERE j.pool_id = ${poolId} AND ${isSetAside}
          AND EXISTS (SELECT FROM idle WHERE ${fits(Prisma.sql`idle.id`, Prisma.sql`idle.model_cache_bytes`)})
      )
      SELECT id, attempt, traceparent, NULL::text[] AS models FROM awaited ORDER BY pass, priority DESC, id
      LIMIT (SELECT sum(slots) FROM idle WHERE model_cache_bytes >= (SELECT min(room_bytes) FROM awaited))`);
    return rows.map(dispatchedOf);
  }

  /** Give those to any worker of the pool for which none has room any more, `limit` at most. @returns what goes to the lane again. */
  async release(statements: Statements, poolId: string, limit: number): Promise<DispatchedJob[]> {
    const rows = await statements.rows<DispatchedRow>(Prisma.sql`
      UPDATE jobs j SET dispatched_at = now() WHERE j.id IN (
        SELECT j.id FROM jobs j WHERE j.pool_id = ${poolId} AND ${isSetAside} AND NOT ${hasRoomAnywhere}
        ORDER BY j.id LIMIT ${limit} FOR UPDATE SKIP LOCKED)
      RETURNING j.id, j.attempt + 1 AS attempt, j.traceparent, NULL::text[] AS models`);
    return rows.map(dispatchedOf);
  }
}
