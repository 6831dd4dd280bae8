import { Prisma } from '@prisma/client';
import type { AuditSpan } from './audit-span';
import { isWithin } from './audit-span.store';

/**
 * What was written of a day is what the ledger charged on it, and what its usage has, to the micro-credit and to the row. Days belong to
 * the span in which they end.
 */
export function deliveredExports(span: AuditSpan): Prisma.Sql {
  return Prisma.sql`
    SELECT 'delivered-export-is-of-the-ledger' AS "check", v.id::text AS subject,
      format('The files of %s have %s of %s jobs and %s of %s transactions; the books have %s of %s and %s of %s.', v.day,
        v.usage_micros, v.usage_rows, v.ledger_micros, v.ledger_rows, u.micros, u.rows, l.micros, l.rows) AS detail
    FROM export_deliveries v
    CROSS JOIN LATERAL (
      SELECT v.day::timestamp AT TIME ZONE 'UTC' AS since, (v.day + 1)::timestamp AT TIME ZONE 'UTC' AS until
    ) s
    CROSS JOIN LATERAL (
      SELECT count(*) AS rows, coalesce(sum(r.charged_micros), 0) AS micros FROM usage_records r
      WHERE r.account_id = v.account_id AND r.finished_at >= s.since AND r.finished_at < s.until
    ) u
    CROSS JOIN LATERAL (
      SELECT count(DISTINCT t.id) AS rows,
        coalesce(sum(e.amount_micros) FILTER (WHERE t.kind = 'settle' AND e.to_book = 'revenue'), 0) AS micros
      FROM ledger_transactions t LEFT JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE t.account_id = v.account_id AND t.at >= s.since AND t.at < s.until
    ) l
    WHERE v.account_id = ANY(${span.accountIds}::uuid[]) AND ${isWithin('s.until', span)} AND v.day IS NOT NULL AND v.state = 'delivered'
      AND (v.usage_micros, v.usage_rows, v.ledger_micros, v.ledger_rows, v.usage_micros)
        IS DISTINCT FROM (u.micros, u.rows, l.micros, l.rows, l.micros)`;
}
