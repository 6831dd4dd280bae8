import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { seenLately, type PlacedStart, type WorkerStart } from '@millrace/deployments';
import type { FleetMember } from './fleet';

/** A deployment as far as its workers depend on it. */
export interface ServedPool {
  poolId: string;
  /** By name; the class may be gone. */
  engineClass: string;
  minWorkers: number;
  maxWorkers: number;
  idleSeconds: number;
  stopped: boolean;
  deleted: boolean;
  /** Attempts that the latest of its workers to be ready ran at once; null where that is not known, or it joined from outside. */
  lastCapacity: number | null;
}

/** A worker as it has reported itself. */
export interface ReportedWorker extends Pick<
  WorkerStart,
  'scheduleMs' | 'pullMs' | 'bootMs' | 'modelsMs' | 'warmUpMs'
> {
  id: string;
  poolId: string;
  host: string;
  pid: number;
  ready: boolean;
  /** It has been ready at some time. */
  wasReady: boolean;
  draining: boolean;
  /** It knows that it is to drain: it takes nothing more. */
  drained: boolean;
  capacity: number;
  /** By a token, from outside: no fleet runs it. */
  joined: boolean;
  /** Why it is not ready, as far as it says: how far its models are, where nothing is wrong. */
  problem: string | null;
  /** For how long it has reported that it can run nothing, in seconds; null where it can, or comes up. */
  unfitSeconds: number | null;
  /** For how long it has reported nothing, in seconds; null where it has lately. */
  silentSeconds: number | null;
}

/** The group of a pool with which the fleet still has to do. The condition is that of an index. */
const busyGroup = (poolId: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`JOIN fleet_groups g ON g.pool_id = ${poolId} AND g.phase <> 'idle'`;

/** All that a suspended account sends is refused: only its jobs need workers, which run to their end. */
const isServed = Prisma.sql`owner.status <> 'suspended'`;

const ownVersions = Prisma.sql`
  SELECT d.pool_id, coalesce(d.engine_class, p.engine) AS engine_class, CASE WHEN ${isServed} THEN d.min_workers ELSE 0 END AS min_workers,
         d.max_workers, CASE WHEN ${isServed} THEN d.idle_seconds ELSE 0 END AS idle_seconds,
         d.desired_state = 'stopped' AS stopped, d.deleted_at IS NOT NULL AS deleted
  FROM deployments d JOIN pools p ON p.id = d.pool_id JOIN accounts owner ON owner.id = d.account_id`;

const otherVersions = Prisma.sql`
  SELECT v.pool_id, coalesce(v.engine_class, p.engine), CASE WHEN v.ended_at IS NULL AND ${isServed} THEN v.min_workers ELSE 0 END, v.max_workers,
         CASE WHEN v.ended_at IS NULL AND ${isServed} THEN v.idle_seconds ELSE 0 END, d.desired_state = 'stopped', d.deleted_at IS NOT NULL
  FROM deployment_versions v JOIN deployments d ON d.id = v.deployment_id JOIN pools p ON p.id = v.pool_id
  JOIN accounts owner ON owner.id = d.account_id`;

/**
 * The SQL of what a fleet needs to know of deployments and workers, which `libs/deployments` owns. It is asked every second, and reads nothing of
 * versions that are gone: an account makes and deletes as many as it likes.
 */
export class ServedPoolStore {
  /**
   * Every version of a deployment that takes jobs, and those of which the fleet still knows something, or which still have jobs: a
   * version that has ended runs what it has, and keeps no workers without. Neither do those of a suspended account.
   *
   * @param working ids of the pools with jobs that wait or run.
   */
  async pools(tx: Statements, working: readonly string[]): Promise<ServedPool[]> {
    return tx.rows(Prisma.sql`
      SELECT served.*, (SELECT CASE WHEN w.token_id IS NULL THEN w.capacity END FROM workers w
                        WHERE w.pool_id = served.pool_id AND w.ready_at IS NOT NULL ORDER BY w.ready_at DESC LIMIT 1) AS last_capacity
      FROM (
      ${ownVersions} WHERE d.deleted_at IS NULL
      UNION ${ownVersions} ${busyGroup(Prisma.sql`d.pool_id`)}
      UNION ${otherVersions} WHERE d.deleted_at IS NULL AND v.ended_at IS NULL
      UNION ${otherVersions} ${busyGroup(Prisma.sql`v.pool_id`)}
      UNION ${otherVersions} WHERE d.deleted_at IS NULL AND v.pool_id = ANY(${[...working]}::text[])
      ) served ORDER BY served.pool_id`);
  }

  /**
   * The workers of these pools that have not stopped, the latest first, and those of these members that were ready and are lost: one
   * that was cut off for a while is still there, and goes on.
   */
  async workers(
    tx: Statements,
    poolIds: readonly string[],
    members: readonly Pick<FleetMember, 'host' | 'pid'>[],
  ): Promise<ReportedWorker[]> {
    const pools = Prisma.sql`${[...poolIds]}::text[]`;
    const alive = seenLately(Prisma.sql`w`);
    return tx.rows(Prisma.sql`
      SELECT w.id, w.pool_id, w.host, w.pid, w.state = 'ready' AND ${alive} AS ready, w.ready_at IS NOT NULL AS was_ready,
             w.state = 'draining' OR w.state = 'stopped' AND w.draining_at IS NOT NULL AS draining,
             w.state = 'draining' AND coalesce(w.last_seen_at > w.draining_at, false) AS drained, w.capacity, w.token_id IS NOT NULL AS joined, coalesce(w.problem, w.models_note) AS problem,
             extract(epoch FROM now() - w.sick_since)::float8 AS unfit_seconds,
             CASE WHEN NOT ${alive} THEN extract(epoch FROM now() - w.last_seen_at)::float8 END AS silent_seconds,
             w.schedule_ms, w.pull_ms, w.boot_ms, w.models_ms, w.warm_up_ms
      FROM (
        SELECT * FROM workers WHERE pool_id = ANY(${pools}) AND state <> 'stopped'
        UNION ALL
        SELECT lost.* FROM unnest(${members.map(({ host }) => host)}::text[], ${members.map(({ pid }) => pid)}::int[]) member (host, pid)
        JOIN workers lost ON lost.host = member.host AND lost.pid = coalesce(member.pid, lost.pid)
        WHERE lost.pool_id = ANY(${pools}) AND lost.state = 'stopped' AND lost.stopped_at > lost.last_seen_at AND lost.ready_at IS NOT NULL
      ) w ORDER BY w.started_at DESC`);
  }

  /** Record what came before the process of a worker, once, while this holder leads. */
  async notePlaced(tx: Statements, id: string, placed: PlacedStart, name: string, fence: bigint): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE workers SET schedule_ms = ${placed.scheduleMs}::int, pull_ms = ${placed.pullMs}::int
      WHERE id = ${id}::uuid AND schedule_ms IS NULL AND pull_ms IS NULL
        AND EXISTS (SELECT FROM fleet_leases WHERE name = ${name} AND fence = ${fence})`);
  }

  /**
   * Let workers finish what they run and take nothing more, while this holder leads.
   *
   * @returns how many: none where another one leads by now.
   */
  async drain(tx: Statements, ids: readonly string[], name: string, fence: bigint): Promise<number> {
    return tx.execute(Prisma.sql`
      UPDATE workers SET state = 'draining', draining_at = coalesce(draining_at, now())
      WHERE id = ANY(${ids}::uuid[]) AND state <> 'stopped'
        AND EXISTS (SELECT FROM fleet_leases WHERE name = ${name} AND fence = ${fence})`);
  }
}
