import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { DeploymentChanges } from './deployment';

/** What an account has of deployments. Of each pool the greater number counts: the workers that it may have, or those that it has. */
export interface DeploymentUse {
  deployments: number;
  /** Workers of all pools but the one that is left out. */
  workers: number;
  /** Of these, the ones that their pools may not have any more: they run until their jobs have ended. */
  leaving: number;
  /** Workers that the pool has which is left out. */
  present: number;
}

/**
 * Workers that have not stopped, by pool, of versions of deployments that are not deleted: also of those that have ended. It begins with the workers
 * that live: an account makes and ends as many versions as it likes. What is not of the fleet does not count: what joined by a token, and the workers
 * of a pool that no fleet serves, which an operator runs, as many as they like.
 */
const presentWorkers = (accountId: string): Prisma.Sql => Prisma.sql`
  SELECT w.pool_id, w.workers FROM (
    SELECT pool_id, count(*)::int AS workers FROM workers WHERE state <> 'stopped' AND token_id IS NULL GROUP BY pool_id) w
  WHERE EXISTS (SELECT FROM fleet_groups g WHERE g.pool_id = w.pool_id) AND ${accountId}::uuid IN (
    (SELECT d.account_id FROM deployments d WHERE d.pool_id = w.pool_id AND d.deleted_at IS NULL),
    (SELECT d.account_id FROM deployment_versions v JOIN deployments d ON d.id = v.deployment_id
     WHERE v.pool_id = w.pool_id AND d.deleted_at IS NULL))`;

/** The SQL of how deployments change and end. */
export class DeploymentLifeStore {
  /** Keep the deployments of an account as they are until this transaction ends: what they add up to is about to be checked. */
  async lockAccount(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`SELECT 1 FROM accounts WHERE id = ${accountId}::uuid FOR NO KEY UPDATE`);
  }

  /** What an account has. @param exceptPool whose workers are about to be others; null: those of all pools stay as they are. */
  async use(tx: Statements, accountId: string, exceptPool: string | null): Promise<DeploymentUse> {
    const [use] = await tx.rows<DeploymentUse>(Prisma.sql`
      WITH live AS MATERIALIZED (
        SELECT d.pool_id, d.max_workers, v.pool_id AS beside, v.max_workers AS beside_workers
        FROM deployments d LEFT JOIN deployment_versions v ON v.deployment_id = d.id AND v.ended_at IS NULL
        WHERE d.account_id = ${accountId}::uuid AND d.deleted_at IS NULL
      ), allowed AS (
        SELECT pool_id, max_workers FROM live UNION ALL SELECT beside, beside_workers FROM live WHERE beside IS NOT NULL
      ), counted AS (
        SELECT coalesce(p.workers, 0) AS present, coalesce(a.max_workers, 0) AS allowed, pool_id IS DISTINCT FROM ${exceptPool}::text AS stays
        FROM allowed a FULL JOIN (${presentWorkers(accountId)}) p USING (pool_id)
      )
      SELECT (SELECT count(*) FROM live)::int AS deployments,
             coalesce(sum(greatest(present, allowed)) FILTER (WHERE stays), 0)::int AS workers,
             coalesce(sum(greatest(present - allowed, 0)) FILTER (WHERE stays), 0)::int AS leaving,
             coalesce(sum(present) FILTER (WHERE NOT stays), 0)::int AS present
      FROM counted`);
    return use ?? { deployments: 0, workers: 0, leaving: 0, present: 0 };
  }

  /** Change a deployment and its pool, each as far as a field is given. */
  async change(tx: Statements, id: string, changes: DeploymentChanges): Promise<void> {
    const { name, engineClass, priceMicrosPerSecond, minWorkers, maxWorkers, idleSeconds, warmUp, models } = changes;
    await tx.models.deployment.updateMany({
      where: { id, deletedAt: null },
      data: {
        ...{ name, engineClass, priceMicrosPerSecond, minWorkers, maxWorkers, idleSeconds, warmUp },
        ...(models !== undefined && { models: models.map(({ folder, name: model }) => ({ folder, name: model })) }),
      },
    });
    const { engine, queueLimit, attemptLimitSeconds } = changes;
    if (engine === undefined && queueLimit === undefined && attemptLimitSeconds === undefined) return;
    await tx.models.pool.updateMany({
      where: { deployments: { some: { id } } },
      data: { engine, queueLimit, attemptLimitSeconds },
    });
  }

  /**
   * Let no job be recorded for a deployment until this transaction ends: see `openDeploymentPart`. The caller holds the lock of the deployment.
   *
   * @returns false where one is being recorded at this moment, for which nothing waits.
   */
  async lockOutJobs(tx: Statements, id: string): Promise<boolean> {
    const locked = await tx.execute(Prisma.sql`
      SELECT 1 FROM deployments WHERE id = ${id}::uuid FOR UPDATE SKIP LOCKED`);
    return locked > 0;
  }

  /** Let a deployment take no more jobs: it is deleted when it has none. Repeating it changes nothing. */
  async drain(tx: Statements, id: string): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE deployments SET deleting_at = now() WHERE id = ${id}::uuid AND deleting_at IS NULL AND deleted_at IS NULL`);
  }

  /** Stop all deployments of an account for good: each is deleted when it has no jobs. */
  async stopAll(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE deployments
      SET desired_state = 'stopped', stopped_at = coalesce(stopped_at, now()), wanted_at = NULL, deleting_at = coalesce(deleting_at, now())
      WHERE account_id = ${accountId}::uuid AND deleted_at IS NULL AND (desired_state <> 'stopped' OR deleting_at IS NULL)`);
  }

  /** Stop all deployments of an account and take their names, graphs and models from them; each is deleted when it has no jobs. @returns how many. */
  async closeAll(tx: Statements, accountId: string, pseudonym: string): Promise<number> {
    await tx.execute(Prisma.sql`
      UPDATE deployment_versions v SET warm_up = NULL, models = '[]' FROM deployments d
      WHERE d.id = v.deployment_id AND d.account_id = ${accountId}::uuid AND (v.warm_up IS NOT NULL OR v.models <> '[]')`);
    return tx.execute(Prisma.sql`
      UPDATE deployments
      SET name = ${pseudonym}, warm_up = NULL, models = '[]', desired_state = 'stopped', stopped_at = coalesce(stopped_at, now()), deleting_at = coalesce(deleting_at, now())
      WHERE account_id = ${accountId}::uuid AND (name <> ${pseudonym} OR desired_state <> 'stopped' OR deleting_at IS NULL)`);
  }

  /** Delete a deployment: no request finds it from now on. What refers to it stays as it is. */
  async remove(tx: Statements, id: string): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE deployments SET deleted_at = now(), wanted_at = NULL WHERE id = ${id}::uuid AND deleted_at IS NULL`);
  }
}
