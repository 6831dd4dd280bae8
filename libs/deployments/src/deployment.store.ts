import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { ConstraintError, type Statements } from '@millrace/database';
import type { Deployment, DeploymentDraft } from './deployment';
import { deploymentState, isIdle, type DeploymentFacts } from './deployment-state';
import { startWaitSeconds, type StartOutlook } from './start-wait';
import { versionOfPool } from './versions';
import { seenLately } from './worker.store';

/** A deployment and what its state follows from. */
type DeploymentRow = Omit<Deployment, 'state' | 'idle' | 'retryAfterSeconds' | 'version' | 'beside'> &
  DeploymentFacts &
  StartOutlook & { hasBeside: boolean };

/** How many of the latest starts the typical start is taken from. */
const STARTS_COMPARED = 20;

const alive = seenLately(Prisma.sql`w`);
const startedAt = Prisma.sql`coalesce(d.started_at, d.created_at)`;

/** All the workers that a deployment ever had. A lost one was marked `stopped` later than it was last seen. */
const workersPart = Prisma.sql`
  SELECT count(*) > 0 AS ever_served,
         count(*) FILTER (WHERE w.state = 'ready' AND ${alive})::int AS ready_workers,
         min(w.models_note) FILTER (WHERE w.state IN ('starting', 'ready') AND ${alive}) AS models_note,
         min(w.started_at) FILTER (WHERE w.state = 'starting' AND w.ready_at IS NULL AND ${alive}) AS starting_since,
         max(w.last_seen_at) AS last_seen_at
  FROM workers w WHERE w.pool_id = d.pool_id`;
const lastPart = Prisma.sql`
  SELECT CASE w.state WHEN 'draining' THEN ${alive} WHEN 'stopped' THEN w.stopped_at <= w.last_seen_at ELSE false END
           AS went_in_order
  FROM workers w WHERE w.pool_id = d.pool_id AND w.ready_at IS NOT NULL AND w.last_seen_at >= ${startedAt}
  ORDER BY w.last_seen_at DESC LIMIT 1`;
const typicalPart = Prisma.sql`
  SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM l.ready_at - l.started_at)) * 1000 AS ms
  FROM (SELECT w.ready_at, w.started_at FROM workers w WHERE w.pool_id = d.pool_id AND w.ready_at IS NOT NULL
        ORDER BY w.ready_at DESC LIMIT ${STARTS_COMPARED}) l`;

/**
 * When the present start began: when the worker that is starting was started; else when the last of the workers went that
 * are always kept, or when a request first wanted the deployment.
 */
const waitingSince = Prisma.sql`
  coalesce(workers.starting_since,
           CASE WHEN d.min_workers > 0 THEN greatest(${startedAt}, workers.last_seen_at) ELSE d.wanted_at END, now())`;

/** The version that the row of a deployment describes. What another one takes is not this one's. */
const ownVersions = Prisma.sql`(
  SELECT own.*, 100 - coalesce(o.weight, 0) AS weight, o.number IS NOT NULL AS has_beside
  FROM deployments own LEFT JOIN deployment_versions o ON o.deployment_id = own.id AND o.ended_at IS NULL)`;

/** The versions beside those, each as if it were a deployment of its own. */
const versionsBeside = Prisma.sql`(
  SELECT own.id, own.account_id, own.name, own.demo, own.desired_state, own.stopped_at, own.deleting_at, own.deleted_at, v.pool_id,
         v.engine_class, v.price_micros_per_second, v.warm_up, v.models, v.min_workers, v.max_workers, v.idle_seconds, v.weight, v.created_at,
         greatest(v.created_at, own.started_at) AS started_at, v.first_ready_at, v.wanted_at, false AS has_beside
  FROM deployment_versions v JOIN deployments own ON own.id = v.deployment_id WHERE v.ended_at IS NULL)`;

const selectionFrom = (versions: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT d.id, d.weight, d.has_beside, d.account_id, owner.status = 'suspended' AS owner_suspended, d.name, d.demo, d.pool_id, p.engine, coalesce(d.engine_class, p.engine) AS engine_class,
         d.idle_seconds, d.warm_up, d.models, d.deleting_at, d.deleted_at, coalesce(g.reason, workers.models_note) AS state_reason, d.desired_state, d.price_micros_per_second,
         p.queue_limit, p.attempt_limit_seconds, p.catalogue_digest, d.min_workers, d.max_workers, d.created_at, ${startedAt} AS started_at,
         d.stopped_at, d.first_ready_at, workers.ever_served,
         CASE WHEN p.catalogue_digest IS NULL THEN 0 ELSE workers.ready_workers END AS ready_workers,
         coalesce(last.went_in_order, false) AS went_in_order, typical.ms::float8 AS typical_start_ms,
         (extract(epoch FROM now() - ${waitingSince}) * 1000)::float8 AS waited_ms
  FROM ${versions} d JOIN pools p ON p.id = d.pool_id JOIN accounts owner ON owner.id = d.account_id
  LEFT JOIN fleet_groups g ON g.pool_id = d.pool_id
  CROSS JOIN LATERAL (${workersPart}) workers LEFT JOIN LATERAL (${lastPart}) last ON true
  CROSS JOIN LATERAL (${typicalPart}) typical`;

const selection = selectionFrom(ownVersions);

/** The SQL of deployments. */
export class DeploymentStore {
  /**
   * Create a deployment with a pool and a lane of its own, both named by its id.
   *
   * @returns its id; null when there is no such account.
   */
  async create(tx: Statements, draft: DeploymentDraft): Promise<string | null> {
    const id = newId();
    try {
      await tx.execute(Prisma.sql`
        WITH pool AS (
          INSERT INTO pools (id, engine, queue_limit, attempt_limit_seconds)
          VALUES (${id}, ${draft.engine}, ${draft.queueLimit}, ${draft.attemptLimitSeconds}) RETURNING id
        )
        INSERT INTO deployments (id, account_id, name, demo, pool_id, price_micros_per_second, min_workers, max_workers,
          engine_class, idle_seconds, warm_up, models, started_at, wanted_at)
        SELECT ${id}::uuid, ${draft.accountId}::uuid, ${draft.name}, ${draft.demo}, pool.id,
          ${draft.priceMicrosPerSecond}, ${draft.minWorkers}, ${draft.maxWorkers}, ${draft.engineClass}, ${draft.idleSeconds},
          ${draft.warmUp}, ${JSON.stringify(draft.models)}::jsonb, now(), now() FROM pool`);
    } catch (error) {
      if (error instanceof ConstraintError && error.constraint === 'deployments_account_id_fkey') return null;
      throw error;
    }
    return id;
  }

  /** A deployment of any account that is not deleted. */
  async find(tx: Statements, id: string): Promise<Deployment | null> {
    return this.findWhere(tx, id, Prisma.sql`d.deleted_at IS NULL`);
  }

  /** A deployment of any account that is not deleted, or was and has jobs that can be read still. */
  async findWithJobs(tx: Statements, id: string): Promise<Deployment | null> {
    const hasJobs = Prisma.sql`EXISTS (SELECT FROM jobs j WHERE j.deployment_id = d.id AND j.expires_at > now())`;
    return this.findWhere(tx, id, Prisma.sql`(d.deleted_at IS NULL OR ${hasJobs})`);
  }

  private async findWhere(tx: Statements, id: string, isThere: Prisma.Sql): Promise<Deployment | null> {
    const [row] = await tx.rows<DeploymentRow>(Prisma.sql`${selection} WHERE d.id = ${id}::uuid AND ${isThere}`);
    return row === undefined ? null : this.whole(tx, row);
  }

  /** Let nobody else change a deployment, or its versions, until this transaction ends. */
  async lock(tx: Statements, id: string): Promise<void> {
    await tx.execute(Prisma.sql`SELECT 1 FROM deployments WHERE id = ${id}::uuid FOR NO KEY UPDATE`);
  }

  /** The deployments of an account, newest first. */
  async list(tx: Statements, accountId: string): Promise<Deployment[]> {
    const rows = await tx.rows<DeploymentRow>(Prisma.sql`
      ${selection} WHERE d.account_id = ${accountId}::uuid AND d.deleted_at IS NULL ORDER BY d.id DESC`);
    return this.wholeOf(tx, rows);
  }

  /** Deployments of all accounts, newest first, `limit` at most, older than `before` where one is given. */
  async listOfAll(tx: Statements, before: string | null, limit: number): Promise<Deployment[]> {
    const older = before === null ? Prisma.empty : Prisma.sql`AND d.id < ${before}::uuid`;
    const rows = await tx.rows<DeploymentRow>(Prisma.sql`
      ${selection} WHERE d.deleted_at IS NULL ${older} ORDER BY d.id DESC LIMIT ${limit}`);
    return this.wholeOf(tx, rows);
  }

  private async wholeOf(tx: Statements, rows: readonly DeploymentRow[]): Promise<Deployment[]> {
    const ids = rows.flatMap(({ id, hasBeside }) => (hasBeside ? [id] : []));
    const beside = ids.length === 0 ? [] : await this.beside(tx, ids);
    return rows.map((row) => deploymentOf(row, beside.find(({ id }) => id === row.id) ?? null));
  }

  private async whole(tx: Statements, row: DeploymentRow): Promise<Deployment> {
    const [beside = null] = row.hasBeside ? await this.beside(tx, [row.id]) : [];
    return deploymentOf(row, beside);
  }

  private async beside(tx: Statements, ids: readonly string[]): Promise<Deployment[]> {
    const rows = await tx.rows<DeploymentRow>(Prisma.sql`
      ${selectionFrom(versionsBeside)} WHERE d.id = ANY(${[...ids]}::uuid[]) AND d.deleted_at IS NULL`);
    return rows.map((row) => deploymentOf(row, null));
  }

  /**
   * Record what an operator wants. Repeating it changes nothing. A deployment that is created or started is wanted: its first
   * worker makes it ready.
   *
   * @returns true when something else was wanted before; false when not, or when there is no such deployment.
   */
  async setDesired(tx: Statements, id: string, desired: DeploymentFacts['desiredState']): Promise<boolean> {
    const times =
      desired === 'running'
        ? Prisma.sql`started_at = now(), stopped_at = NULL, wanted_at = now()`
        : Prisma.sql`stopped_at = now(), wanted_at = NULL`;
    const changed = await tx.execute(Prisma.sql`
      UPDATE deployments SET desired_state = ${desired}, ${times}
      WHERE id = ${id}::uuid AND desired_state <> ${desired} AND deleted_at IS NULL`);
    return changed > 0;
  }

  /** Record that a request wants a version without a ready worker; the first such request counts until one is ready. */
  async noteWanted(tx: Statements, id: string, poolId: string): Promise<void> {
    await tx.execute(Prisma.sql`
      WITH beside AS (
        UPDATE deployment_versions v SET wanted_at = now() FROM deployments d
        WHERE d.id = v.deployment_id AND v.pool_id = ${poolId} AND v.wanted_at IS NULL AND v.ended_at IS NULL
          AND d.desired_state = 'running'
      )
      UPDATE deployments SET wanted_at = now()
      WHERE id = ${id}::uuid AND pool_id = ${poolId} AND wanted_at IS NULL AND desired_state = 'running'`);
  }
}

function deploymentOf(row: DeploymentRow, beside: Deployment | null): Deployment {
  const { hasBeside: _, desiredState, everServed, wentInOrder, typicalStartMs, waitedMs, ...deployment } = row;
  const facts: DeploymentFacts = { ...deployment, desiredState, everServed, wentInOrder };
  return {
    ...deployment,
    version: versionOfPool(row.poolId),
    beside,
    state: deploymentState(facts),
    idle: isIdle(facts),
    retryAfterSeconds: startWaitSeconds({ typicalStartMs, waitedMs }),
  };
}
