import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { dispatchedOf, type DispatchedJob, type DispatchedRow } from '../rotation';

/** The SQL that finds what a lane may have lost. */
export class UnclaimedStore {
  /**
   * Attempts that went to the pool's lane more than `olderThanSeconds` ago and were not claimed, the oldest first. Those that went there
   * more than `placedSeconds` ago without their models: which worker has them does not matter any more.
   */
  async list(
    statements: Statements,
    poolId: string,
    { olderThanSeconds, placedSeconds }: { olderThanSeconds: number; placedSeconds: number },
  ): Promise<DispatchedJob[]> {
    const rows = await statements.rows<DispatchedRow>(Prisma.sql`
      SELECT id, attempt + 1 AS attempt, traceparent,
        CASE WHEN dispatched_at >= now() - make_interval(secs => ${placedSeconds}) THEN models END AS models
      FROM jobs
      WHERE pool_id = ${poolId} AND delivery = 'dispatched'
        AND dispatched_at < now() - make_interval(secs => ${olderThanSeconds})
      ORDER BY dispatched_at`);
    return rows.map(dispatchedOf);
  }
}
