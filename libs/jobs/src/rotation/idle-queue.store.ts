import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** An account's place in a pool's rotation, of which no job is left. */
export interface IdleQueue {
  poolId: string;
  accountId: string;
  /** Its place among the others: what a sweep goes on from. */
  turn: string;
}

/** No job of the account waits or runs in the pool, and none that ended is kept. A foreign key of `jobs` holds a row with any. */
const isIdle = Prisma.sql`q.waiting = 0 AND q.in_flight = 0
  AND NOT EXISTS (SELECT FROM jobs j WHERE j.account_id = q.account_id AND j.pool_id = q.pool_id)`;

/** The SQL that ends the lives of rows of `account_queues`. */
export class IdleQueueStore {
  /** Costs a walk over the rows, with one look into `jobs` for each that has nothing waiting or running. */
  async list(statements: Statements, after: string | null, limit: number): Promise<IdleQueue[]> {
    const [accountId = null, poolId = null] = after === null ? [] : split(after);
    return statements.rows(Prisma.sql`
      SELECT q.pool_id, q.account_id, concat(q.account_id, ' ', q.pool_id) AS turn FROM account_queues q
      WHERE ${isIdle} AND (${accountId}::uuid IS NULL OR (q.account_id, q.pool_id) > (${accountId}::uuid, ${poolId}::text))
      ORDER BY q.account_id, q.pool_id LIMIT ${limit}`);
  }

  /**
   * Delete a row that is still idle, and that no other statement has locked, once the virtual time of its pool has reached its
   * pass: an account that comes back joins at virtual time, which must not be a better place than the one it left.
   *
   * A row ahead of virtual time raises that to its pass and is deleted by a later call. So far ahead, by a turn at most, a pool
   * only has rows of idle accounts when hardly anyone had a turn in it since; in the same statement a submission that has read
   * the old virtual time could use it.
   *
   * @returns whether it is gone.
   * @throws ConstraintError `foreign_key` when a job came and ended since the statement began.
   */
  async forget(statements: Statements, { poolId, accountId }: Omit<IdleQueue, 'turn'>): Promise<boolean> {
    const gone = await statements.execute(Prisma.sql`
      WITH idle AS MATERIALIZED (
        SELECT q.pool_id, q.account_id, q.pass FROM account_queues q
        WHERE q.pool_id = ${poolId} AND q.account_id = ${accountId}::uuid AND ${isIdle} FOR UPDATE SKIP LOCKED
      ), time AS (
        UPDATE pools p SET virtual_time = idle.pass FROM idle WHERE p.id = idle.pool_id AND p.virtual_time < idle.pass
      )
      DELETE FROM account_queues q USING idle, pools p
      WHERE q.pool_id = idle.pool_id AND q.account_id = idle.account_id AND p.id = idle.pool_id AND idle.pass <= p.virtual_time`);
    return gone > 0;
  }
}

/** The account and the pool of a turn. A UUID has no space; an id of a pool may have anything. */
function split(turn: string): [accountId: string, poolId: string] {
  const at = turn.indexOf(' ');
  return [turn.slice(0, at), turn.slice(at + 1)];
}
