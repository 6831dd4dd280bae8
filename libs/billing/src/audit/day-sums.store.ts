import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { DAY, LINE_COLUMNS, lineSums, movements } from '../ledger';
import { dayEnd, type AuditSpan, type DaySums } from './audit-span';
import { isWithin } from './audit-span.store';

type DayRow = Omit<DaySums, 'ends'>;

/** Whether all of the day that ends at `ends` is in the span, or was summed before it. */
export const isWholeDay = (ends: Prisma.Sql, { after, day }: AuditSpan): Prisma.Sql =>
  after === null || day !== null ? Prisma.sql`true` : Prisma.sql`${ends} <> ${dayEnd(after)}::timestamptz`;

/** What the span before has of the day that ends at `ends`: 0 of every other day. */
export const summedBefore = (ends: Prisma.Sql, { day }: AuditSpan, amountOf: (day: DaySums) => bigint): Prisma.Sql =>
  day === null
    ? Prisma.sql`0::bigint`
    : Prisma.sql`CASE WHEN ${ends} = ${day.ends}::timestamptz THEN ${amountOf(day)}::bigint ELSE 0 END`;

/** A span from the later of a time and the begin of what the audit reads: no part reads again what the part before has read. */
export const fromInSpan = (from: Prisma.Sql, { after }: AuditSpan): Prisma.Sql =>
  after === null ? from : Prisma.sql`greatest(${from}, ${after}::timestamptz + interval '1 ms')`;

/**
 * Sum what a part has of the day in which it ends, with what the parts before it have of that day: the part that has the end of the day compares
 * it, and need not read the day again.
 *
 * @returns null where that is unknown: nobody summed the part before.
 */
export async function sumDay(tx: Statements, span: AuditSpan, until: Date): Promise<DaySums | null> {
  const [accountId] = span.accountIds;
  const ends = dayEnd(until);
  const isOneDay = span.after !== null && dayEnd(span.after).getTime() === ends.getTime();
  if (isOneDay && span.day === null) return null;
  const account = Prisma.sql`${accountId}::uuid`;
  const from = fromInSpan(Prisma.sql`${ends}::timestamptz - ${DAY}`, span);
  const day = { from, to: Prisma.sql`${until}::timestamptz + interval '1 ms'` };
  const isOfDay = (column: string): Prisma.Sql =>
    Prisma.sql`${Prisma.raw(column)} >= ${from} AND ${isWithin(column, span)}`;
  const [row] = await tx.rows<DayRow>(Prisma.sql`
    SELECT l.lines, t.rows AS ledger_rows, t.micros AS ledger_micros, u.rows AS usage_rows, u.micros AS usage_micros
    FROM (
      SELECT ARRAY[${Prisma.raw(LINE_COLUMNS.map((column) => `s.${column}`).join(', '))}] AS lines
      FROM (SELECT ${lineSums(Prisma.sql`true`)} FROM (${movements(account, day)}) m) s
    ) l, (
      SELECT count(DISTINCT t.id) AS rows,
        coalesce(sum(e.amount_micros) FILTER (WHERE t.kind = 'settle' AND e.to_book = 'revenue'), 0)::bigint AS micros
      FROM ledger_transactions t LEFT JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE t.account_id = ${account} AND ${isOfDay('t.at')}
    ) t, (
      SELECT count(*) AS rows, coalesce(sum(r.charged_micros), 0)::bigint AS micros FROM usage_records r
      WHERE r.account_id = ${account} AND ${isOfDay('r.finished_at')}
    ) u`);
  if (row === undefined) throw new Error('the sums of a day returned no row');
  const before = isOneDay ? span.day : null;
  return {
    ends,
    lines: row.lines.map((micros, nth) => BigInt(micros) + (before?.lines[nth] ?? 0n)),
    ledgerRows: row.ledgerRows + (before?.ledgerRows ?? 0n),
    ledgerMicros: row.ledgerMicros + (before?.ledgerMicros ?? 0n),
    usageRows: row.usageRows + (before?.usageRows ?? 0n),
    usageMicros: row.usageMicros + (before?.usageMicros ?? 0n),
  };
}
