import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { LINE_COLUMNS, lineSums, movements } from './movements.store';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
/** A posting has the time at which its transaction began; no transaction is under way for so long. */
const SETTLED_AFTER = Prisma.sql`interval '1 hour'`;
/** A day of UTC: in other time zones some days are longer. */
export const DAY = Prisma.sql`interval '24 hours'`;

/** Transactions that one statement reads: an account may have millions in a day. */
const PAGE = 20_000;

/** A day that is over and not closed. */
interface OpenDay {
  begins: Date;
  ends: Date;
  /** With what the closed day before it closed. */
  openingMicros: bigint;
}

interface DayPage {
  to: Date;
  /** In the order of `LINE_COLUMNS`. */
  lines: (bigint | string)[];
}

/**
 * The SQL of closed days: the sums of days to which nothing is posted any more. A day is closed after all days before it, so what an account's
 * ledger has before the end of the last closed one is in them.
 */
export class LedgerDaysStore {
  /** @param pageTransactions that one statement reads, about. */
  constructor(private readonly pageTransactions = PAGE) {}

  /** Accounts to which something was posted after their last closed day, in the order of their ids. */
  async listOpen(statements: Statements, after: string | null, limit: number): Promise<string[]> {
    const rows = await statements.rows<{ accountId: string }>(Prisma.sql`
      SELECT b.account_id FROM balances b WHERE b.account_id > ${after ?? BEFORE_ALL}::uuid
        AND b.updated_at >= coalesce((SELECT max(d.ends) FROM ledger_days d WHERE d.account_id = b.account_id), '-infinity')
      ORDER BY b.account_id LIMIT ${limit}`);
    return rows.map(({ accountId }) => accountId);
  }

  /**
   * Close the first day of an account that is not closed, of those in which something was posted. Reads the entries of that day, in pages: nothing is
   * posted to it any more. Two that do so at once find the same sums, and one of them writes.
   *
   * @param at the time by which the day must be over; null: the database's.
   * @returns false where there is no such day, or it is not over.
   */
  async closeNext(statements: Statements, accountId: string, at: Date | null = null): Promise<boolean> {
    const day = await this.nextDay(statements, accountId, at);
    if (day === null) return false;
    const lines = LINE_COLUMNS.map(() => 0n);
    for (let from = day.begins; from < day.ends;) {
      const page = await this.readPage(statements, accountId, from, day.ends);
      page.lines.forEach((micros, nth) => (lines[nth] = (lines[nth] ?? 0n) + BigInt(micros)));
      from = page.to;
    }
    const closing = lines.reduce((sum, micros) => sum + micros, day.openingMicros);
    const closed = await statements.execute(Prisma.sql`
      INSERT INTO ledger_days (account_id, ends, ${Prisma.raw(LINE_COLUMNS.join(', '))}, closing_micros)
      VALUES (${accountId}::uuid, ${day.ends}::timestamptz, ${Prisma.join(lines)}, ${closing})
      ON CONFLICT DO NOTHING`);
    return closed > 0;
  }

  private async nextDay(statements: Statements, accountId: string, at: Date | null): Promise<OpenDay | null> {
    const [day] = await statements.rows<OpenDay>(Prisma.sql`
      WITH last AS (
        SELECT l.ends, l.closing_micros FROM ledger_days l WHERE l.account_id = ${accountId}::uuid ORDER BY l.ends DESC LIMIT 1
      ), day AS (
        SELECT date_trunc('day', t.at, 'UTC') AS begins FROM ledger_transactions t
        WHERE t.account_id = ${accountId}::uuid AND t.at >= coalesce((SELECT ends FROM last), '-infinity')
        ORDER BY t.at LIMIT 1
      )
      SELECT d.begins, d.begins + ${DAY} AS ends, coalesce((SELECT closing_micros FROM last), 0)::bigint AS opening_micros
      FROM day d WHERE d.begins + ${DAY} + ${SETTLED_AFTER} <= coalesce(${at}::timestamptz, now())`);
    return day ?? null;
  }

  /** What a day has from a time on, up to about as many transactions as a page has. */
  private async readPage(statements: Statements, accountId: string, from: Date, ends: Date): Promise<DayPage> {
    const span = { from: Prisma.sql`${from}::timestamptz`, to: Prisma.sql`(SELECT p.to FROM page p)` };
    const [page] = await statements.rows<DayPage>(Prisma.sql`
      WITH last AS (
        SELECT t.at FROM ledger_transactions t
        WHERE t.account_id = ${accountId}::uuid AND t.at >= ${from}::timestamptz AND t.at < ${ends}::timestamptz
        ORDER BY t.at, t.id OFFSET ${this.pageTransactions - 1} LIMIT 1
      ), page AS (
        SELECT coalesce((SELECT at + interval '1 ms' FROM last), ${ends}::timestamptz) AS to
      )
      SELECT p.to, ARRAY[${Prisma.raw(LINE_COLUMNS.map((column) => `s.${column}`).join(', '))}] AS lines
      FROM page p, (SELECT ${lineSums(Prisma.sql`true`)} FROM (${movements(Prisma.sql`${accountId}::uuid`, span)}) m) s`);
    if (page === undefined) throw new Error('a page of a day returned no row');
    return page;
  }
}
