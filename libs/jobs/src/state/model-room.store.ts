import { Prisma } from '@prisma/client';
import { WORKER_SILENCE_SECONDS } from '@millrace/deployments';

/** For so long a worker that had no room for the models of a job does not get it again while another may have, in seconds. */
const NO_ROOM_SECONDS = 300;

/** A worker has handed the job `j` back for lack of room, not long ago. */
const lackedRoom = (workerId: Prisma.Sql): Prisma.Sql => Prisma.sql`EXISTS (
    SELECT FROM job_attempts past
    WHERE past.job_id = j.id AND past.worker_id = ${workerId} AND past.outcome = 'handed_back' AND past.error IS NOT NULL
      AND past.ended_at > now() - make_interval(secs => ${NO_ROOM_SECONDS}))`;

/**
 * A worker of the pool of the job `j` lives, other than `workerId`, whose cache can hold so many bytes, and which has not found out lately
 * that it cannot. One that drains takes nothing more.
 */
export function hasRoomElsewhere(workerId: Prisma.Sql, bytes: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT FROM workers other
    WHERE other.pool_id = j.pool_id AND other.id <> ${workerId} AND other.state IN ('starting', 'ready')
      AND other.last_seen_at > now() - make_interval(secs => ${WORKER_SILENCE_SECONDS})
      AND other.model_cache_bytes >= ${bytes} AND NOT ${lackedRoom(Prisma.sql`other.id`)})`;
}

/**
 * The worker has no room for the models of the job `j`, by what its cache can hold or because it has found out lately, and another
 * of the pool has. Adapters are not among what a job names: a worker that lacks room for these finds out.
 */
export function isForAnother(workerId: string): Prisma.Sql {
  return Prisma.sql`((cardinality(coalesce(j.models, '{}')) > 0 OR j.attempt > 0) AND EXISTS (
    WITH needed AS MATERIALIZED (SELECT model_bytes(j.account_id, j.models) AS bytes)
    SELECT FROM workers own, needed
    WHERE own.id = ${workerId}::uuid
      AND (own.model_cache_bytes < needed.bytes OR ${lackedRoom(Prisma.sql`own.id`)})
      AND ${hasRoomElsewhere(Prisma.sql`own.id`, Prisma.sql`needed.bytes`)}))`;
}
