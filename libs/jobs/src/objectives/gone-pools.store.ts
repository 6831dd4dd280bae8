import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** The SQL that finds pools of which nothing more is to be shown. */
export class GonePoolStore {
  /**
   * Of these pools, those whose deployment was deleted, or whose version ended, longer than `settledSeconds` ago, and that have no jobs which wait or
   * run.
   */
  async find(statements: Statements, poolIds: readonly string[], settledSeconds: number): Promise<string[]> {
    const rows = await statements.rows<{ poolId: string }>(Prisma.sql`
      SELECT p.pool_id FROM (
        SELECT pool_id, deleted_at AS gone_at FROM deployments
        UNION ALL
        SELECT v.pool_id, least(v.ended_at, d.deleted_at) FROM deployment_versions v JOIN deployments d ON d.id = v.deployment_id
      ) p
      WHERE p.pool_id = ANY (${[...poolIds]}::text[])
      GROUP BY p.pool_id HAVING bool_and(coalesce(p.gone_at < now() - make_interval(secs => ${settledSeconds}::float8), false))
        AND NOT EXISTS (SELECT FROM account_queues q WHERE q.pool_id = p.pool_id AND q.waiting + q.in_flight > 0)`);
    return rows.map(({ poolId }) => poolId);
  }
}
