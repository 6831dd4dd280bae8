import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { deploymentPools } from '@millrace/deployments';

/** The deployment `d` has no job that waits or runs. */
const hasNoJobs = Prisma.sql`NOT EXISTS (
  SELECT FROM account_queues q JOIN ${deploymentPools} dp ON dp.pool_id = q.pool_id
  WHERE dp.deployment_id = d.id AND q.waiting + q.in_flight > 0)`;

/** The SQL that ends deployments which were to drain first. */
export class DrainedDeploymentStore {
  /** Ids of deployments that take no more jobs since `settledSeconds` and have none that waits or runs, `limit` at most. */
  async listDrained(statements: Statements, settledSeconds: number, limit: number): Promise<string[]> {
    const drained = await statements.rows<{ id: string }>(Prisma.sql`
      SELECT d.id FROM deployments d
      WHERE d.deleted_at IS NULL AND d.deleting_at < now() - make_interval(secs => ${settledSeconds}) AND ${hasNoJobs}
      LIMIT ${limit}`);
    return drained.map(({ id }) => id);
  }

  /**
   * Delete those of the deployments that have no jobs. One for which a job is being recorded stays (`openDeploymentPart`): they are locked first, so that
   * what was recorded before is seen.
   *
   * @returns how many.
   */
  async remove(tx: Statements, ids: readonly string[]): Promise<number> {
    const locked = await tx.rows<{ id: string }>(Prisma.sql`
      SELECT id FROM deployments WHERE id = ANY(${[...ids]}::uuid[]) ORDER BY id FOR UPDATE SKIP LOCKED`);
    return tx.execute(Prisma.sql`
      UPDATE deployments d SET deleted_at = now(), wanted_at = NULL
      WHERE d.id = ANY(${locked.map(({ id }) => id)}::uuid[]) AND d.deleted_at IS NULL AND ${hasNoJobs}`);
  }
}
