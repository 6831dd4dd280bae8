import { Prisma } from '@prisma/client';
import { seenLately } from '@millrace/deployments';

/** For so long a worker that had no room for the models of a job does not get it again while another may have, in seconds. */
const NO_ROOM_SECONDS = 300;
/** For so long jobs wait for a worker that is sick, in seconds. After that it counts as one that has gone, until it is well. */
const RECOVERY_SECONDS = 300;

/** What the models of the job `j` take, by the names that it has. Adapters are not among them: who lacks room for these finds out. */
export const roomOfJob = Prisma.sql`model_bytes(j.account_id, coalesce(j.models, '{}'))`;

/**
 * The job `j` is set aside: its turn has come, and it is in no lane, because the worker that was offered it has no room for its models and
 * those that have are busy. It has no time of its dispatch until one takes it, and so it counts neither as in flight nor as lost.
 */
export const isSetAside = Prisma.sql`(j.delivery = 'dispatched' AND j.dispatched_at IS NULL)`;

/** The worker has handed the job `j` back for lack of room, not long ago. */
export const lackedRoom = (workerId: Prisma.Sql): Prisma.Sql => Prisma.sql`(j.attempt > 0 AND EXISTS (
    SELECT FROM job_attempts past
    WHERE past.job_id = j.id AND past.worker_id = ${workerId} AND past.outcome = 'handed_back' AND past.error IS NOT NULL
      AND past.ended_at > now() - make_interval(secs => ${NO_ROOM_SECONDS})))`;

const isSeen = seenLately(Prisma.sql`other`);

/** The worker `other` lives and takes attempts. */
export const isReady = Prisma.sql`(other.state = 'ready' AND ${isSeen})`;

/** The worker `other` takes attempts or is about to: it comes up, or has been sick for a short time. One that drains takes nothing more. */
const willTake = Prisma.sql`(other.state IN ('starting', 'ready')
    AND ${isSeen}
    AND (other.state = 'ready' OR other.problem IS NULL OR other.sick_since > now() - make_interval(secs => ${RECOVERY_SECONDS})))`;

/** Another worker of the pool of the job `j` has not found out lately that it has no room, and `has` says that it has some. */
const another = (workerId: Prisma.Sql, has: Prisma.Sql): Prisma.Sql => Prisma.sql`EXISTS (
    SELECT FROM workers other
    WHERE other.pool_id = j.pool_id AND other.id <> ${workerId} AND ${willTake} AND ${has} AND NOT ${lackedRoom(Prisma.sql`other.id`)})`;

/** A worker of the pool of the job `j`, other than `workerId`, has a cache that can hold so many bytes. */
export const hasRoomElsewhere = (workerId: Prisma.Sql, bytes: Prisma.Sql): Prisma.Sql =>
  another(workerId, Prisma.sql`other.model_cache_bytes >= ${bytes}`);

/** A worker of the pool of the job `j`, other than `workerId`, does not say what it can hold: it is of an earlier version, say. */
export const mayHaveRoomElsewhere = (workerId: Prisma.Sql): Prisma.Sql =>
  another(workerId, Prisma.sql`other.model_cache_bytes IS NULL`);

const NOBODY = Prisma.sql`'00000000-0000-0000-0000-000000000000'::uuid`;

/** A worker of the pool of the set-aside job `j` has room for it. */
export const hasRoomAnywhere = hasRoomElsewhere(NOBODY, Prisma.sql`j.room_bytes`);

/**
 * The worker has no room for the models of the job `j`, by what its cache can hold or because it has found out lately, and another
 * of the pool has. What the models take is looked up last: only where another worker can hold more than this one.
 */
export function isForAnother(workerId: string): Prisma.Sql {
  return Prisma.sql`((cardinality(coalesce(j.models, '{}')) > 0 OR j.attempt > 0) AND EXISTS (
    SELECT FROM workers own CROSS JOIN LATERAL (SELECT ${lackedRoom(Prisma.sql`own.id`)} AS found_out OFFSET 0) lately
    WHERE own.id = ${workerId}::uuid AND CASE
      WHEN NOT ${another(Prisma.sql`own.id`, Prisma.sql`(other.model_cache_bytes > own.model_cache_bytes OR lately.found_out)`)} THEN false
      ELSE (
        SELECT (own.model_cache_bytes < needed.bytes OR lately.found_out) AND ${hasRoomElsewhere(Prisma.sql`own.id`, Prisma.sql`needed.bytes`)}
        FROM (SELECT ${roomOfJob} AS bytes OFFSET 0) needed)
      END))`;
}
