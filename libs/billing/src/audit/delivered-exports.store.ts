import { Prisma } from '@prisma/client';
import type { AuditSpan, DaySums } from './audit-span';
import { isWithin } from './audit-span.store';
import { fromInSpan, isWholeDay, summedBefore } from './day-sums.store';

/**
 * What was written of a day is what the ledger charged on it, and what its usage has, to the micro-credit and to the row. Days belong to
 * the span in which they end: what the spans before have of one is in their sums.
 */
export function deliveredExports(span: AuditSpan): Prisma.Sql {
  const ends = Prisma.sql`s.until`;
  const since = fromInSpan(Prisma.sql`s.since`, span);
  const before = (amountOf: (day: DaySums) => bigint): Prisma.Sql => summedBefore(ends, span, amountOf);
  return Prisma.sql`
    SELECT 'delivered-export-is-of-the-ledger' AS "check", v.id::text AS subject,
      format('The files of %s have %s of %s jobs and %s of %s transactions; the books have %s of %s and %s of %s.', v.day,
        v.usage_micros, v.usage_rows, v.ledger_micros, v.ledger_rows, u.micros, u.rows, l.micros, l.rows) AS detail
    FROM export_deliveries v
    CROSS JOIN LATERAL (
      SELECT v.day::timestamp AT TIME ZONE 'UTC' AS since, (v.day + 1)::timestamp AT TIME ZONE 'UTC' AS until
    ) s
    CROSS JOIN LATERAL (
      SELECT count(*) + ${before(({ usageRows }) => usageRows)} AS rows,
        coalesce(sum(r.charged_micros), 0) + ${before(({ usageMicros }) => usageMicros)} AS micros
      FROM usage_records r
      WHERE r.account_id = v.account_id AND r.finished_at >= ${since} AND r.finished_at < s.until
    ) u
    CROSS JOIN LATERAL (
      SELECT count(DISTINCT t.id) + ${before(({ ledgerRows }) => ledgerRows)} AS rows,
        coalesce(sum(e.amount_micros) FILTER (WHERE t.kind = 'settle' AND e.to_book = 'revenue'), 0)
          + ${before(({ ledgerMicros }) => ledgerMicros)} AS micros
      FROM ledger_transactions t LEFT JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE t.account_id = v.account_id AND t.at >= ${since} AND t.at < s.until
    ) l
    WHERE v.account_id = ANY(${span.accountIds}::uuid[]) AND ${isWithin('s.until', span)} AND ${isWholeDay(ends, span)} AND v.day IS NOT NULL AND v.state = 'delivered'
      AND (v.usage_micros, v.usage_rows, v.ledger_micros, v.ledger_rows, v.usage_micros)
        IS DISTINCT FROM (u.micros, u.rows, l.micros, l.rows, l.micros)`;
}
