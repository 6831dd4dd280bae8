import { Prisma } from '@prisma/client';
import type { TerminalStatus } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { SETTLED_AFTER_MS, type LedgerKind } from '../ledger';
import type { ExportDay } from './export-day';

/** What a job was charged, as finance reads it. */
export interface UsageLine {
  jobId: string;
  finishedAt: Date;
  apiKeyId: string | null;
  deploymentId: string | null;
  status: TerminalStatus;
  billableMs: bigint;
  chargedMicros: bigint;
  labels: Record<string, string>;
}

/** A transaction of the ledger with what it changed. */
export interface LedgerLine {
  id: string;
  at: Date;
  kind: LedgerKind;
  jobId: string | null;
  corrects: string | null;
  reason: string | null;
  availableMicros: bigint;
  heldMicros: bigint;
  /** What it charged; 0 of all but a settlement. */
  chargedMicros: bigint;
}

/** What a day's files add up to. Both name what jobs were charged: the amounts are the same, or the audit finds it. */
export interface DayTotals {
  day: string;
  usageRows: number;
  usageMicros: bigint;
  ledgerRows: number;
  ledgerMicros: bigint;
}

/** A place behind which a page begins. */
export interface After {
  at: Date;
  id: string;
}

const dayName = (column: string): Prisma.Sql =>
  Prisma.sql`to_char(${Prisma.raw(column)} AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;
const charged = Prisma.sql`CASE WHEN t.kind = 'settle' AND e.to_book = 'revenue' THEN e.amount_micros ELSE 0 END`;
const changeOf = (book: 'available' | 'held'): Prisma.Sql => Prisma.sql`
  (CASE WHEN e.to_book = ${book} THEN e.amount_micros ELSE 0 END - CASE WHEN e.from_book = ${book} THEN e.amount_micros ELSE 0 END)`;

/**
 * The first day (UTC) that is not complete, as a `date`: nothing more is posted to those before it. By PostgreSQL's clock, as the times in the books
 * are: that of a process may be ahead, and a day is delivered once.
 *
 * @param at the time that is taken for now; null: PostgreSQL's.
 */
export const firstIncompleteDay = (at: Date | null): Prisma.Sql => Prisma.sql`
  ((coalesce(${at}::timestamptz, now()) - make_interval(secs => ${SETTLED_AFTER_MS / 1_000})) AT TIME ZONE 'UTC')::date`;

/** The SQL of exports: a day of an account, page by page in the order of time. */
export class ExportStore {
  /** Days before it are complete: `yyyy-mm-dd`. @param at the time that is taken for now; null: PostgreSQL's. */
  async firstIncompleteDay(statements: Statements, at: Date | null): Promise<string> {
    const [row] = await statements.rows<{ day: string }>(Prisma.sql`
      SELECT to_char(${firstIncompleteDay(at)}, 'YYYY-MM-DD') AS day`);
    if (row === undefined) throw new Error('a day returned no row');
    return row.day;
  }

  async usagePage(
    statements: Statements,
    accountId: string,
    { from, to }: ExportDay,
    after: After | null,
    limit: number,
  ): Promise<UsageLine[]> {
    const behind =
      after === null ? Prisma.empty : Prisma.sql`AND (finished_at, job_id) > (${after.at}, ${after.id}::uuid)`;
    return statements.rows(Prisma.sql`
      SELECT job_id, finished_at, api_key_id, deployment_id, status, billable_ms, charged_micros, labels FROM usage_records
      WHERE account_id = ${accountId}::uuid AND finished_at >= ${after?.at ?? from} AND finished_at < ${to} ${behind}
      ORDER BY finished_at, job_id LIMIT ${limit}`);
  }

  async ledgerPage(
    statements: Statements,
    accountId: string,
    { from, to }: ExportDay,
    after: After | null,
    limit: number,
  ): Promise<LedgerLine[]> {
    const behind = after === null ? Prisma.empty : Prisma.sql`AND (t.at, t.id) > (${after.at}, ${after.id}::uuid)`;
    return statements.rows(Prisma.sql`
      SELECT t.id, t.at, t.kind, t.job_id, t.corrects, t.reason, m.available_micros, m.held_micros, m.charged_micros
      FROM ledger_transactions t CROSS JOIN LATERAL (
        SELECT coalesce(sum(${changeOf('available')}), 0)::bigint AS available_micros,
          coalesce(sum(${changeOf('held')}), 0)::bigint AS held_micros, coalesce(sum(${charged}), 0)::bigint AS charged_micros
        FROM ledger_entries e WHERE e.transaction_id = t.id
      ) m
      WHERE t.account_id = ${accountId}::uuid AND t.at >= ${after?.at ?? from} AND t.at < ${to} ${behind}
      ORDER BY t.at, t.id LIMIT ${limit}`);
  }

  /** Of the days in [from, to) that have anything, in one statement, so that both sums are of one moment. */
  async totals(statements: Statements, accountId: string, { from, to }: Omit<ExportDay, 'day'>): Promise<DayTotals[]> {
    return statements.rows(Prisma.sql`
      SELECT day, coalesce(u.rows, 0)::int AS usage_rows, coalesce(u.micros, 0)::bigint AS usage_micros,
        coalesce(l.rows, 0)::int AS ledger_rows, coalesce(l.micros, 0)::bigint AS ledger_micros
      FROM (
        SELECT ${dayName('finished_at')} AS day, count(*) AS rows, sum(charged_micros) AS micros FROM usage_records
        WHERE account_id = ${accountId}::uuid AND finished_at >= ${from} AND finished_at < ${to} GROUP BY 1
      ) u FULL JOIN (
        SELECT ${dayName('t.at')} AS day, count(DISTINCT t.id) AS rows, sum(${charged}) AS micros
        FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
        WHERE t.account_id = ${accountId}::uuid AND t.at >= ${from} AND t.at < ${to} GROUP BY 1
      ) l USING (day)`);
  }
}
