import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { LINE_COLUMNS, lineSums, movements } from './movements.store';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
/** A posting has the time at which its transaction began; no transaction is under way for so long. */
const SETTLED_AFTER = Prisma.sql`interval '1 hour'`;
/** A day of UTC: in other time zones some days are longer. */
export const DAY = Prisma.sql`interval '24 hours'`;

/**
 * The SQL of closed days: the sums of days to which nothing is posted any more. A day is closed after all days before it, so what an account's
 * ledger has before the end of the last closed one is in them.
 */
export class LedgerDaysStore {
  /** Accounts to which something was posted after their last closed day, in the order of their ids. */
  async listOpen(statements: Statements, after: string | null, limit: number): Promise<string[]> {
    const rows = await statements.rows<{ accountId: string }>(Prisma.sql`
      SELECT b.account_id FROM balances b WHERE b.account_id > ${after ?? BEFORE_ALL}::uuid
        AND b.updated_at >= coalesce((SELECT max(d.ends) FROM ledger_days d WHERE d.account_id = b.account_id), '-infinity')
      ORDER BY b.account_id LIMIT ${limit}`);
    return rows.map(({ accountId }) => accountId);
  }

  /**
   * Close the first day of an account that is not closed, of those in which something was posted. Reads the entries of that day. Two that do so
   * at once find the same sums, and one of them writes.
   *
   * @returns false where there is no such day, or it is not over.
   */
  async closeNext(statements: Statements, accountId: string): Promise<boolean> {
    const day = { from: Prisma.sql`d.begins`, to: Prisma.sql`d.begins + ${DAY}` };
    const closed = await statements.execute(Prisma.sql`
      WITH last AS (
        SELECT l.ends, l.closing_micros FROM ledger_days l WHERE l.account_id = ${accountId}::uuid ORDER BY l.ends DESC LIMIT 1
      ), day AS (
        SELECT date_trunc('day', t.at, 'UTC') AS begins FROM ledger_transactions t
        WHERE t.account_id = ${accountId}::uuid AND t.at >= coalesce((SELECT ends FROM last), '-infinity')
        ORDER BY t.at LIMIT 1
      )
      INSERT INTO ledger_days (account_id, ends, ${Prisma.raw(LINE_COLUMNS.join(', '))}, closing_micros)
      SELECT ${accountId}::uuid, ${day.to}, ${lineSums(Prisma.sql`true`)},
        coalesce((SELECT closing_micros FROM last), 0) + coalesce(sum(m.change), 0)::bigint
      FROM day d LEFT JOIN LATERAL (${movements(Prisma.sql`${accountId}::uuid`, day)}) m ON true
      WHERE ${day.to} + ${SETTLED_AFTER} <= now() GROUP BY d.begins
      ON CONFLICT DO NOTHING`);
    return closed > 0;
  }
}
