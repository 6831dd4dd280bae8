import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** How many days before its end a key is announced, the first notice last. */
const NOTICE_DAYS = [1, 7] as const;

/** The notice that is due of the key `k`: of several that were missed the last one alone, which is true. */
const dueDays = Prisma.sql`
  CASE WHEN k.expires_at <= now() + make_interval(days => ${NOTICE_DAYS[0]}::int) THEN ${NOTICE_DAYS[0]}::int ELSE ${NOTICE_DAYS[1]}::int END`;

/**
 * Record `key.expiring` for keys whose notice is due, and that it was, in one statement: two processes note each once, and one that
 * dies has done both or neither. A key that lives shorter than a notice is early has been made with that knowledge: it has none. A key that was
 * rotated or revoked is over by its owner's will.
 *
 * Reads and writes the columns alone that the maintenance process may (`scripts/lib/prisma/database-rights.mjs`).
 *
 * @returns how many keys.
 */
export async function noteExpiringKeys(statements: Statements, limit: number): Promise<number> {
  const rows = await statements.rows(Prisma.sql`
    WITH due AS (
      SELECT k.id, n.days FROM api_keys k CROSS JOIN LATERAL (SELECT ${dueDays} AS days) n
      WHERE k.expires_at > now() AND k.expires_at <= now() + make_interval(days => ${NOTICE_DAYS[1]}::int) AND k.revoked_at IS NULL
        AND (k.expiry_notice_days IS NULL OR k.expiry_notice_days > n.days)
        AND k.created_at <= k.expires_at - make_interval(days => n.days)
      ORDER BY k.expires_at LIMIT ${limit} FOR UPDATE OF k SKIP LOCKED
    ), noted AS (
      UPDATE api_keys k SET expiry_notice_days = due.days FROM due WHERE k.id = due.id
      RETURNING k.id, k.account_id, k.name, k.last_four, k.labels, k.expires_at, due.days
    )
    SELECT record_webhook_event(account_id, 'key.expiring', jsonb_build_object('id', id, 'name', name, 'last_four', last_four,
      'labels', labels, 'expires_at', to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'days', days))
    FROM noted`);
  return rows.length;
}
