import { Prisma } from '@prisma/client';
import { DAY, LINE_COLUMNS, lineSums, movements } from '../ledger';
import type { AuditSpan } from './audit-span';
import { isWithin } from './audit-span.store';
import { fromInSpan, isWholeDay, summedBefore } from './day-sums.store';

const CHECK = Prisma.sql`'closed-day-is-sum' AS "check"`;
const columns = (table: string, separator: string): Prisma.Sql =>
  Prisma.raw(LINE_COLUMNS.map((column) => `${table}.${column}`).join(separator));

/**
 * A closed day, of which monthly statements are made, has what the entries of the day sum to, and closes with what the day before closed
 * with and that; and no day before the last closed one is missing. Days belong to the span in which they end: what the spans before have of
 * one is in their sums.
 */
export function closedDays(span: AuditSpan): Prisma.Sql {
  const ends = Prisma.sql`d.ends`;
  const day = { from: fromInSpan(Prisma.sql`d.ends - ${DAY}`, span), to: ends };
  const whole = LINE_COLUMNS.map(
    (column, nth) =>
      Prisma.sql`${Prisma.raw(`r.${column}`)} + ${summedBefore(ends, span, ({ lines }) => lines[nth] ?? 0n)} AS ${Prisma.raw(column)}`,
  );
  const stored = Prisma.sql`ARRAY[${columns('d', ', ')}, d.closing_micros]`;
  const summed = Prisma.sql`ARRAY[${columns('s', ', ')}, p.micros + ${columns('s', ' + ')}]`;
  return Prisma.sql`
    SELECT ${CHECK}, d.account_id::text AS subject,
      format('The day that ended at %s has %s, its entries sum to %s (micro-credits: ${Prisma.raw(LINE_COLUMNS.join(', '))}, closing).',
        d.ends, ${stored}, ${summed}) AS detail
    FROM ledger_days d
    CROSS JOIN LATERAL (
      SELECT ${Prisma.join(whole)} FROM (
        SELECT ${lineSums(Prisma.sql`true`)} FROM (${movements(Prisma.sql`d.account_id`, day)}) m
      ) r
    ) s
    CROSS JOIN LATERAL (
      SELECT coalesce((SELECT l.closing_micros FROM ledger_days l
        WHERE l.account_id = d.account_id AND l.ends < d.ends ORDER BY l.ends DESC LIMIT 1), 0) AS micros
    ) p
    WHERE d.account_id = ANY(${span.accountIds}::uuid[]) AND ${isWithin('d.ends', span)} AND ${isWholeDay(ends, span)}
      AND ${stored} <> ${summed}
    UNION ALL
    SELECT ${CHECK}, t.account_id::text, format('Of the day that ended at %s there are no sums, and of a later one there are.', t.ends)
    FROM (
      SELECT DISTINCT t.account_id, date_trunc('day', t.at, 'UTC') + ${DAY} AS ends FROM ledger_transactions t
      WHERE t.account_id = ANY(${span.accountIds}::uuid[]) AND ${isWithin('t.at', span)}
    ) t
    WHERE t.ends < (SELECT max(d.ends) FROM ledger_days d WHERE d.account_id = t.account_id)
      AND NOT EXISTS (SELECT FROM ledger_days d WHERE d.account_id = t.account_id AND d.ends = t.ends)`;
}
