import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { DeploymentChanges } from './deployment';

/** What an account has of deployments. */
export interface DeploymentUse {
  deployments: number;
  /** The most workers that all of them may have. */
  workers: number;
}

/** The SQL of how deployments change and end. */
export class DeploymentLifeStore {
  /** Keep the deployments of an account as they are until this transaction ends: what they add up to is about to be checked. */
  async lockAccount(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`SELECT 1 FROM accounts WHERE id = ${accountId}::uuid FOR NO KEY UPDATE`);
  }

  /** What an account has, without the deployment `exceptId`. */
  async use(tx: Statements, accountId: string, exceptId: string | null): Promise<DeploymentUse> {
    const [use] = await tx.rows<DeploymentUse>(Prisma.sql`
      SELECT count(*)::int AS deployments, coalesce(sum(d.max_workers + coalesce(v.max_workers, 0)), 0)::int AS workers
      FROM deployments d LEFT JOIN deployment_versions v ON v.deployment_id = d.id AND v.ended_at IS NULL
      WHERE d.account_id = ${accountId}::uuid AND d.deleted_at IS NULL AND (d.id = ${exceptId}::uuid) IS NOT TRUE`);
    return use ?? { deployments: 0, workers: 0 };
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
      where: { deployment: { id } },
      data: { engine, queueLimit, attemptLimitSeconds },
    });
  }

  /** Let a deployment take no more jobs: it is deleted when it has none. Repeating it changes nothing. */
  async drain(tx: Statements, id: string): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE deployments SET deleting_at = now() WHERE id = ${id}::uuid AND deleting_at IS NULL AND deleted_at IS NULL`);
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
