import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { QueueEndsRow } from './queue-ends';

/** Jobs of each end that are read: the whole of a queue of default length (`QUEUE_LIMIT_PER_ACCOUNT`). */
export const END_LENGTH = 100;

/** The SQL that reads where an account's waiting jobs begin and end. */
export class QueueEndsStore {
  async read(statements: Statements, poolId: string, accountId: string): Promise<QueueEndsRow> {
    const [row] = await statements.rows<QueueEndsRow>(this.readSql(poolId, accountId));
    return row ?? { waiting: 0, first: [], last: [] };
  }

  /** The statement of `read`, whose plan a test checks: two short ranges of one index, however many jobs wait between. */
  readSql(poolId: string, accountId: string): Prisma.Sql {
    const waiting = Prisma.sql`
      SELECT w.id FROM jobs w WHERE w.pool_id = q.pool_id AND w.account_id = q.account_id AND w.delivery = 'waiting'`;
    return Prisma.sql`
      SELECT q.waiting, array(${waiting} ORDER BY w.priority DESC, w.id LIMIT ${END_LENGTH}) AS first,
        array(${waiting} ORDER BY w.priority, w.id DESC LIMIT least(${END_LENGTH}, greatest(0, q.waiting - ${END_LENGTH}))) AS last
      FROM account_queues q WHERE q.pool_id = ${poolId} AND q.account_id = ${accountId}::uuid`;
  }
}
