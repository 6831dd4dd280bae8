import { Prisma } from '@prisma/client';
import { ConstraintError, type Statements } from '@millrace/database';
import type { DeploymentDraft } from '../deployment';
import { poolOfVersion, versionOfPool } from './version';

/** What a version of a deployment is made of. */
export type VersionDraft = Omit<DeploymentDraft, 'accountId' | 'name' | 'demo'>;

/** Who takes a version out of use. Jobs that move to another one for an operator never cost more for it. */
export type VersionActor = 'account' | 'operator';

/** A version that takes no jobs any more. */
export interface EndedVersion {
  number: number;
  poolId: string;
  engineClass: string;
  createdAt: Date;
  endedAt: Date;
}

/** The SQL of the versions of deployments. Callers hold the lock of the deployment: `DeploymentsService.locked`. */
export class DeploymentVersionStore {
  /** The highest number that a version of a deployment has ever had. */
  async latestNumber(tx: Statements, id: string, ownPoolId: string): Promise<number> {
    const [row] = await tx.rows<{ latest: number }>(Prisma.sql`
      SELECT coalesce(max(number), 0)::int AS latest FROM deployment_versions WHERE deployment_id = ${id}::uuid`);
    return Math.max(row?.latest ?? 0, versionOfPool(ownPoolId));
  }

  /** Add a version, with a pool and a lane of its own. It is wanted: its first worker comes at once. @returns false when two are live already. */
  async add(tx: Statements, id: string, number: number, draft: VersionDraft, weight: number): Promise<boolean> {
    const poolId = poolOfVersion(id, number);
    try {
      await tx.execute(Prisma.sql`
        WITH pool AS (
          INSERT INTO pools (id, engine, queue_limit, attempt_limit_seconds)
          VALUES (${poolId}, ${draft.engine}, ${draft.queueLimit}, ${draft.attemptLimitSeconds}) RETURNING id
        )
        INSERT INTO deployment_versions (deployment_id, number, pool_id, engine_class, price_micros_per_second, warm_up, models,
          min_workers, max_workers, idle_seconds, weight, wanted_at)
        SELECT ${id}::uuid, ${number}, pool.id, ${draft.engineClass}, ${draft.priceMicrosPerSecond}::bigint, ${draft.warmUp},
          ${JSON.stringify(draft.models)}::jsonb,
          ${draft.minWorkers}, ${draft.maxWorkers}, ${draft.idleSeconds}, ${weight}, now() FROM pool`);
      return true;
    } catch (error) {
      if (error instanceof ConstraintError && error.constraint === 'deployment_versions_live_key') return false;
      throw error;
    }
  }

  /**
   * The share of the version beside the deployment's own, in percent. Which of both an operator takes out of use is recorded: `RetiredPoolStore` of
   * `libs/jobs` prices by it the jobs that leave it. No act of the account changes that until the version has a share again.
   */
  async weigh(tx: Statements, id: string, weight: number, by: VersionActor): Promise<void> {
    const isOperator = by === 'operator';
    await tx.execute(Prisma.sql`
      WITH other AS (
        SELECT weight FROM deployment_versions WHERE deployment_id = ${id}::uuid AND ended_at IS NULL
      ), own AS (
        UPDATE deployments d SET moved_by_operator = ${weight}::int = 100 AND (${isOperator}::boolean OR d.moved_by_operator AND other.weight = 100)
        FROM other WHERE d.id = ${id}::uuid
      )
      UPDATE deployment_versions SET weight = ${weight}::int,
        moved_by_operator = ${weight}::int = 0 AND (${isOperator}::boolean OR moved_by_operator AND weight = 0)
      WHERE deployment_id = ${id}::uuid AND ended_at IS NULL`);
  }

  /**
   * End the deployment's own version, and begin another one with this number in its place, made as the one before was, with a pool of its own. It is
   * wanted, as one that was added is. One statement, so that no reading finds neither.
   */
  async replaceOwn(tx: Statements, id: string, number: number): Promise<void> {
    await tx.execute(Prisma.sql`
      WITH own AS (
        SELECT d.*, p.engine, p.queue_limit, p.attempt_limit_seconds, coalesce(substring(d.pool_id FROM '-v([0-9]+)$')::int, 1) AS number
        FROM deployments d JOIN pools p ON p.id = d.pool_id WHERE d.id = ${id}::uuid
      ), pool AS (
        INSERT INTO pools (id, engine, queue_limit, attempt_limit_seconds)
        SELECT ${poolOfVersion(id, number)}, engine, queue_limit, attempt_limit_seconds FROM own RETURNING id
      ), ended AS (
        INSERT INTO deployment_versions (deployment_id, number, pool_id, engine_class, price_micros_per_second, warm_up, models,
          min_workers, max_workers, idle_seconds, weight, first_ready_at, created_at, ended_at)
        SELECT id, number, pool_id, coalesce(engine_class, engine), price_micros_per_second, warm_up, models,
          min_workers, max_workers, idle_seconds, 0, first_ready_at, created_at, now() FROM own
      )
      UPDATE deployments d SET pool_id = pool.id, moved_by_operator = false,
        wanted_at = CASE WHEN d.desired_state = 'running' THEN now() END,
        started_at = CASE WHEN d.desired_state = 'running' THEN now() ELSE d.started_at END
      FROM pool WHERE d.id = ${id}::uuid`);
  }

  /** End the version beside the deployment's own. */
  async endOther(tx: Statements, id: string, by: VersionActor): Promise<void> {
    await tx.execute(Prisma.sql`
      WITH own AS (
        UPDATE deployments SET moved_by_operator = false WHERE id = ${id}::uuid
      )
      UPDATE deployment_versions SET ended_at = now(), weight = 0, wanted_at = NULL,
        moved_by_operator = ${by === 'operator'}::boolean OR moved_by_operator AND weight = 0
      WHERE deployment_id = ${id}::uuid AND ended_at IS NULL`);
  }

  /** End the deployment's own version: the two change places. One statement, so that no reading finds neither. */
  async endOwn(tx: Statements, id: string, by: VersionActor): Promise<void> {
    await tx.execute(Prisma.sql`
      WITH other AS (
        SELECT * FROM deployment_versions WHERE deployment_id = ${id}::uuid AND ended_at IS NULL FOR UPDATE
      ), own AS (
        SELECT d.*, coalesce(substring(d.pool_id FROM '-v([0-9]+)$')::int, 1) AS number
        FROM deployments d, other WHERE d.id = other.deployment_id
      ), ended AS (
        UPDATE deployment_versions v SET number = own.number, pool_id = own.pool_id, engine_class = own.engine_class,
          price_micros_per_second = own.price_micros_per_second, warm_up = own.warm_up, models = own.models, min_workers = own.min_workers,
          max_workers = own.max_workers, idle_seconds = own.idle_seconds, weight = 0, first_ready_at = own.first_ready_at,
          wanted_at = NULL, created_at = own.created_at, ended_at = now(),
          moved_by_operator = ${by === 'operator'}::boolean OR own.moved_by_operator AND v.weight = 100
        FROM own WHERE v.deployment_id = own.id AND v.ended_at IS NULL
      )
      UPDATE deployments d SET pool_id = other.pool_id, moved_by_operator = false, engine_class = other.engine_class,
        price_micros_per_second = other.price_micros_per_second, warm_up = other.warm_up, models = other.models, min_workers = other.min_workers,
        max_workers = other.max_workers, idle_seconds = other.idle_seconds, wanted_at = coalesce(other.wanted_at, d.wanted_at),
        first_ready_at = coalesce(d.first_ready_at, other.first_ready_at)
      FROM other WHERE d.id = other.deployment_id`);
  }

  /** Those that have ended, the latest first. */
  async listEnded(tx: Statements, id: string): Promise<EndedVersion[]> {
    return tx.rows(Prisma.sql`
      SELECT v.number, v.pool_id, coalesce(v.engine_class, p.engine) AS engine_class, v.created_at, v.ended_at
      FROM deployment_versions v JOIN pools p ON p.id = v.pool_id
      WHERE v.deployment_id = ${id}::uuid AND v.ended_at IS NOT NULL ORDER BY v.number DESC LIMIT 100`);
  }
}
