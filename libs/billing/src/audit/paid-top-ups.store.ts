import { Prisma } from '@prisma/client';
import type { AuditSpan } from './audit-span';
import { inSpan, ofAccounts } from './audit-span.store';

/** Credits that were sold were paid for: each such transaction has its top-up. */
export function purchases(span: AuditSpan): Prisma.Sql {
  return Prisma.sql`
    SELECT 'top-up-is-paid' AS "check", t.id::text AS subject, 'Credits were sold without a paid top-up.' AS detail
    FROM ledger_transactions t
    WHERE ${inSpan('t', span)} AND t.kind = 'top_up' AND NOT EXISTS (
      SELECT FROM top_ups u WHERE u.transaction_id = t.id AND u.status = 'paid')`;
}

/** Each paid top-up brought its credits, to its account. */
export function topUps({ accountIds }: AuditSpan): Prisma.Sql {
  return Prisma.sql`
    SELECT 'top-up-is-paid' AS "check", u.id::text AS subject,
      format('The top-up is of %s micro-credits, the ledger brought %s.', u.amount_micros, coalesce(t.brought, 0)) AS detail
    FROM top_ups u
    LEFT JOIN LATERAL (
      SELECT t.account_id, sum(e.amount_micros) AS brought
      FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE t.id = u.transaction_id AND t.kind = 'top_up' GROUP BY t.account_id
    ) t ON true
    WHERE u.status = 'paid' AND ${ofAccounts('u.account_id', accountIds)}
      AND (t.account_id IS DISTINCT FROM u.account_id OR t.brought IS DISTINCT FROM u.amount_micros)`;
}

/** Every paid top-up has a message of its provider about the payment. */
export function payments({ accountIds }: AuditSpan): Prisma.Sql {
  return Prisma.sql`
    SELECT 'payment-is-recorded' AS "check", u.id::text AS subject,
      format('The top-up of %s micro-credits is paid, but there is no message of %s about it.', u.amount_micros, u.provider)
        AS detail
    FROM top_ups u
    WHERE u.status = 'paid' AND ${ofAccounts('u.account_id', accountIds)} AND NOT EXISTS (
      SELECT 1 FROM payment_events e WHERE e.top_up_id = u.id AND e.provider = u.provider AND e.kind = 'paid')`;
}
