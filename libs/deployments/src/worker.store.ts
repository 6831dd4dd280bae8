import { Prisma } from '@prisma/client';
import { relaxedCommit, storable, type Statements } from '@millrace/database';
import { deploymentPools } from './versions';
import type { OwnStart } from './starts';

const WORKER_STATES = ['starting', 'ready', 'draining', 'stopped'] as const;
export type WorkerState = (typeof WORKER_STATES)[number];

/** The state of a worker as others see it. `lost`: it went, or stopped to send heartbeats, without reporting it. */
export const SEEN_WORKER_STATES = [...WORKER_STATES, 'lost'] as const;
export type SeenWorkerState = (typeof SEEN_WORKER_STATES)[number];

/** The most that one list shows. */
const MAX_LISTED = 1_000;

/** A worker without a heartbeat for this long does not count. */
export const WORKER_SILENCE_SECONDS = 15;

/** A row of `workers` was seen lately enough to count. @param alias of the table in the statement. */
export const seenLately = (alias: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`${alias}.last_seen_at > now() - make_interval(secs => ${WORKER_SILENCE_SECONDS})`;

const isSeen = seenLately(Prisma.sql`workers`);

/** The worker lives and takes attempts. The second condition is that of an index. */
const isReady = Prisma.sql`workers.state = 'ready' AND workers.state <> 'stopped' AND ${isSeen}`;

/** How many attempts workers of a pool run that take no more: they drain, are not well, or are gone, and their leases stand. Reads what is in flight. */
const runElsewhere = (poolId: string, since: Date | null): Prisma.Sql => Prisma.sql`(
  SELECT count(*) FROM jobs j
  WHERE j.pool_id = ${poolId} AND j.delivery = 'leased' AND j.dispatched_at >= coalesce(${since}::timestamptz, '-infinity')
    AND NOT EXISTS (SELECT FROM workers WHERE workers.id = j.worker_id AND workers.pool_id = ${poolId} AND ${isReady}))`;

/** A worker that reported its stop was last seen at that moment; one that was marked stopped by others, before. */
const seen = Prisma.sql`
  id, pool_id, engine, version, host, pid, capacity, resident_models, problem, started_at, last_seen_at, stopped_at,
  CASE WHEN state = 'stopped' THEN CASE WHEN stopped_at > last_seen_at THEN 'lost' ELSE 'stopped' END
       WHEN ${isSeen} THEN state ELSE 'lost' END AS state`;

export interface WorkerRegistration {
  id: string;
  poolId: string;
  engine: string;
  version: string;
  host: string;
  pid: number;
  capacity: number;
}

export interface WorkerReport {
  state: WorkerState;
  residentModels: string[];
  /** Models that are on its disk; as before where it does not say. */
  diskModels?: string[];
  /** What its cache of models can hold; as before where it does not say. */
  modelCacheBytes?: number;
  /** Why it is not ready, for an operator. */
  problem: string | null;
  /** How far the models are that its deployment names, or why some are not there; null, or absent: nothing is to be said. */
  modelsNote?: string | null;
  /** What its latest attempts took, in milliseconds; null until it has run one. */
  attemptMs?: number | null;
  /** What its start took, once it is over. */
  start?: OwnStart;
  /** Attempts that it can run at once from now on, 1 at least; as before where it does not say. */
  capacity?: number;
}

/** How fast a pool works. */
export interface PoolPace {
  /** Attempts that its live, ready workers run at once. */
  capacity: number;
  /** Attempts in its lane or on one of these workers. */
  inFlight: number;
  /** What the latest attempts took, in milliseconds; null until one has run. */
  attemptMs: number | null;
}

/** A worker as operators see it. */
export interface WorkerRecord extends WorkerRegistration {
  state: SeenWorkerState;
  residentModels: string[];
  problem: string | null;
  startedAt: Date;
  lastSeenAt: Date;
  stoppedAt: Date | null;
}

/** Which workers are listed. */
export interface WorkerFilter {
  poolId: string | null;
  withStopped: boolean;
}

/** The SQL of workers. */
export class WorkerStore {
  async register(tx: Statements, worker: WorkerRegistration): Promise<void> {
    const { id, poolId, engine, version, host, pid, capacity } = worker;
    await tx.execute(Prisma.sql`
      INSERT INTO workers (id, pool_id, engine, version, host, pid, capacity)
      VALUES (${id}::uuid, ${poolId}, ${engine}, ${version}, ${host}, ${pid}, ${capacity})`);
  }

  /**
   * Record a worker's report. A draining worker stays draining until it reports its stop. The first ready worker of a
   * deployment makes it ready, and no longer wanted. A worker that was marked lost is back with its next report, and drains if it was
   * to. Since when it has been sick, PostgreSQL's clock says: from the first report that it can run nothing, with a problem, to the next without. Its commit does not wait for the disk:
   * the next report says it again.
   *
   * @param onlyLive record nothing of a worker that was silent or is marked lost: it is not counted among the live ones.
   * @returns the state that holds now; null when the worker is not registered, has reported its stop, or is not among those that are meant.
   */
  async heartbeat(
    tx: Statements,
    id: string,
    report: WorkerReport,
    { onlyLive = false } = {},
  ): Promise<WorkerState | null> {
    const problem = report.problem && storable(report.problem);
    const modelsNote = report.modelsNote ? storable(report.modelsNote) : null;
    const [row] = await tx.rows<{ state: WorkerState }>(Prisma.sql`
      WITH worker AS (
        UPDATE workers SET last_seen_at = now(), resident_models = ${report.residentModels}, problem = ${problem},
          models_note = ${modelsNote},
          disk_models = coalesce(${report.diskModels ?? null}::text[], disk_models),
          model_cache_bytes = coalesce(${report.modelCacheBytes ?? null}::bigint, model_cache_bytes),
          sick_since = CASE WHEN ${report.state} = 'starting' AND ${problem}::text IS NOT NULL THEN coalesce(sick_since, now()) END,
          capacity = coalesce(${report.capacity ?? null}::int, capacity),
          attempt_ms = coalesce(${report.attemptMs ?? null}::int, attempt_ms),
          boot_ms = coalesce(boot_ms, ${report.start?.bootMs ?? null}::int),
          models_ms = coalesce(models_ms, ${report.start?.modelsMs ?? null}::int),
          warm_up_ms = coalesce(warm_up_ms, ${report.start?.warmUpMs ?? null}::int),
          state = CASE WHEN (state = 'draining' OR draining_at IS NOT NULL) AND ${report.state} <> 'stopped' THEN 'draining' ELSE ${report.state} END,
          ready_at = CASE WHEN ${report.state} = 'ready' THEN coalesce(ready_at, now()) ELSE ready_at END,
          stopped_at = CASE WHEN ${report.state} = 'stopped' THEN now() END
        WHERE id = ${id}::uuid AND (state <> 'stopped' OR stopped_at > last_seen_at)
          AND (NOT ${onlyLive}::boolean OR state <> 'stopped' AND ${isSeen})
        RETURNING pool_id, state
      ), deployment AS (
        UPDATE deployments d SET first_ready_at = coalesce(d.first_ready_at, now()), wanted_at = NULL
        FROM worker WHERE d.pool_id = worker.pool_id AND worker.state = 'ready'
          AND (d.first_ready_at IS NULL OR d.wanted_at IS NOT NULL)
      ), beside AS (
        UPDATE deployment_versions v SET first_ready_at = coalesce(v.first_ready_at, now()), wanted_at = NULL
        FROM worker WHERE v.pool_id = worker.pool_id AND worker.state = 'ready'
          AND (v.first_ready_at IS NULL OR v.wanted_at IS NOT NULL)
      )
      SELECT state FROM worker, ${relaxedCommit}`);
    return row?.state ?? null;
  }

  /**
   * How many attempts of the pool may be in flight, without any look-ahead: as many as its live, ready workers run at once, and beside them those that
   * others still run, which drain or are gone: a turn counts these as well. None without a ready worker, or while its deployment is stopped.
   *
   * @param since no attempt in flight was dispatched before, so that nothing before it need be read; null: not known.
   */
  async room(tx: Statements, poolId: string, since: Date | null): Promise<number> {
    const [row] = await tx.rows<{ room: number }>(Prisma.sql`
      SELECT CASE WHEN ready.capacity > 0 THEN ready.capacity + ${runElsewhere(poolId, since)} ELSE 0 END::int AS room
      FROM (SELECT coalesce(sum(capacity), 0) AS capacity FROM workers WHERE pool_id = ${poolId} AND ${isReady}) ready
      WHERE NOT EXISTS (SELECT 1 FROM deployments d JOIN ${deploymentPools} dp ON dp.deployment_id = d.id
                        WHERE dp.pool_id = ${poolId} AND d.desired_state = 'stopped')`);
    return row?.room ?? 0;
  }

  /** How fast a pool works now, by the reports of its workers. */
  async pace(tx: Statements, poolId: string): Promise<PoolPace> {
    const [row] = await tx.rows<PoolPace>(Prisma.sql`
      SELECT coalesce(sum(capacity), 0)::int AS capacity,
        greatest(0, in_flight_of(${poolId}) - ${runElsewhere(poolId, null)})::int AS in_flight,
        (sum(capacity::float8 * attempt_ms) FILTER (WHERE attempt_ms IS NOT NULL)
          / sum(capacity) FILTER (WHERE attempt_ms IS NOT NULL))::float8 AS attempt_ms
      FROM workers WHERE pool_id = ${poolId} AND ${isReady}`);
    return row ?? { capacity: 0, inFlight: 0, attemptMs: null };
  }

  /**
   * Workers, the newest first. Which are lost is decided in this reading, on PostgreSQL's clock.
   *
   * @param filter a null pool means all; `withStopped`: also those that have stopped or were marked so.
   */
  async list(tx: Statements, { poolId, withStopped }: WorkerFilter): Promise<WorkerRecord[]> {
    return tx.rows(Prisma.sql`
      SELECT ${seen} FROM workers
      WHERE (${poolId}::text IS NULL OR pool_id = ${poolId}) AND (${withStopped} OR state <> 'stopped')
      ORDER BY id DESC LIMIT ${MAX_LISTED}`);
  }

  /** How many workers of each pool are in each state; those that have stopped are not counted. */
  async count(tx: Statements): Promise<{ poolId: string; state: SeenWorkerState; workers: number }[]> {
    return tx.rows(Prisma.sql`
      SELECT pool_id, CASE WHEN ${isSeen} THEN state ELSE 'lost' END AS state, count(*)::int AS workers
      FROM workers WHERE state <> 'stopped' GROUP BY 1, 2`);
  }

  /** Let a worker finish what it runs and take nothing more. @returns null when there is no such live worker. */
  async drain(tx: Statements, id: string): Promise<WorkerRecord | null> {
    const [worker] = await tx.rows<WorkerRecord>(Prisma.sql`
      UPDATE workers SET state = 'draining', draining_at = coalesce(draining_at, now()) WHERE id = ${id}::uuid AND state <> 'stopped' RETURNING ${seen}`);
    return worker ?? null;
  }

  /**
   * Let a draining worker take jobs again. It counts as starting until its next heartbeat says that it is ready; one that drains
   * because it is about to stop says so, and goes on draining.
   *
   * @returns null when there is no such live worker; one that does not drain stays as it is.
   */
  async undrain(tx: Statements, id: string): Promise<WorkerRecord | null> {
    const [worker] = await tx.rows<WorkerRecord>(Prisma.sql`
      UPDATE workers SET state = CASE state WHEN 'draining' THEN 'starting' ELSE state END, draining_at = NULL
      WHERE id = ${id}::uuid AND state <> 'stopped' RETURNING ${seen}`);
    return worker ?? null;
  }

  /** Mark workers stopped that sent no heartbeat for `afterSeconds`, `limit` at most. @returns how many. */
  async retireSilent(tx: Statements, afterSeconds: number, limit: number): Promise<number> {
    return tx.execute(Prisma.sql`
      UPDATE workers SET state = 'stopped', stopped_at = now() WHERE id IN (
        SELECT id FROM workers WHERE state <> 'stopped' AND last_seen_at < now() - make_interval(secs => ${afterSeconds})
        LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  }

  /**
   * Delete workers that stopped long ago, `limit` at most; the latest of each pool stays, because the state of its deployment
   * depends on how it stopped. @returns how many.
   */
  async deleteStopped(tx: Statements, afterSeconds: number, limit: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM workers WHERE id IN (
        SELECT w.id FROM workers w
        WHERE w.state = 'stopped' AND w.stopped_at < now() - make_interval(secs => ${afterSeconds})
          AND EXISTS (SELECT 1 FROM workers n WHERE n.pool_id = w.pool_id AND n.last_seen_at > w.last_seen_at
                      AND (n.ready_at IS NOT NULL OR w.ready_at IS NULL))
        LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  }
}
