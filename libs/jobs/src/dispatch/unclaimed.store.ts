import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { dispatchedOf, type DispatchedJob, type DispatchedRow } from '../rotation';

/** The SQL that finds what a lane may have lost. */
export class UnclaimedStore {
  /** Attempts that went to the pool's lane more than `olderThanSeconds` ago and were not claimed, the oldest first. */
  async list(statements: Statements, poolId: string, olderThanSeconds: number): Promise<DispatchedJob[]> {
    const rows = await statements.rows<DispatchedRow>(Prisma.sql`
      SELECT id, attempt + 1 AS attempt, traceparent, models FROM jobs
      WHERE pool_id = ${poolId} AND delivery = 'dispatched'
        AND dispatched_at < now() - make_interval(secs => ${olderThanSeconds})
      ORDER BY dispatched_at`);
    return rows.map(dispatchedOf);
  }
}
