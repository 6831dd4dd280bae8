import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { Finding } from '@millrace/platform';

/** For so long a provider can send a message again, which is what makes the finding go away. */
const SENT_AGAIN_DAYS = 30;
const MOST = 1_000;
const CHECK = 'payment-has-its-order';

/**
 * Payments that were recorded and added nothing, because their order is not in the database. Only processes of an earlier version
 * recorded them; of an older one it cannot be known whether the order was made at another installation.
 */
export async function unorderedPayments(statements: Statements): Promise<Finding[]> {
  return statements.rows(Prisma.sql`
    SELECT ${CHECK}::text AS "check", e.top_up_id::text AS subject,
      format('%s reported with %s that the top-up was paid, and there is no such order: if it was made here, send the event again.',
        e.provider, e.id) AS detail
    FROM payment_events e
    WHERE e.kind = 'paid' AND e.received_at > now() - make_interval(days => ${SENT_AGAIN_DAYS}::int)
      AND NOT EXISTS (SELECT FROM top_ups u WHERE u.id = e.top_up_id)
    ORDER BY e.received_at LIMIT ${MOST}`);
}

/** Says that the books are wrong. A payment without an order may be one of another installation, so it is for a person to look at, and no alert. */
export function isOfBooks({ check }: Finding): boolean {
  return check !== CHECK;
}
