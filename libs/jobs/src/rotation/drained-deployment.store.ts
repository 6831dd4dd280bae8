import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { deploymentPools } from '@millrace/deployments';

/** The SQL that ends deployments which were to drain first. */
export class DrainedDeploymentStore {
  /**
   * Delete deployments that take no more jobs since `settledSeconds` and have none that waits or runs, `limit` at most.
   *
   * @returns how many.
   */
  async deleteDrained(tx: Statements, settledSeconds: number, limit: number): Promise<number> {
    return tx.execute(Prisma.sql`
      UPDATE deployments SET deleted_at = now(), wanted_at = NULL WHERE id IN (
        SELECT d.id FROM deployments d
        WHERE d.deleted_at IS NULL AND d.deleting_at < now() - make_interval(secs => ${settledSeconds})
          AND NOT EXISTS (SELECT FROM account_queues q JOIN ${deploymentPools} dp ON dp.pool_id = q.pool_id
                          WHERE dp.deployment_id = d.id AND q.waiting + q.in_flight > 0)
        LIMIT ${limit} FOR UPDATE OF d SKIP LOCKED)`);
  }
}
