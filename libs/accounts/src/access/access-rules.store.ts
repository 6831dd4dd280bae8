import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { askedEnd } from '../api-key.store';

/** How the keys of an account may be used. */
export interface AccessRules {
  /** Networks, as they were sent; empty: from anywhere. */
  allowedAddresses: string[];
  /** The age at which keys end, in seconds; null: at none. */
  keyMaxAgeSeconds: number | null;
}

/** The SQL of the rules by which the keys of an account may be used. */
export class AccessRulesStore {
  /** Null where there is no such account. */
  async find(tx: Statements, accountId: string): Promise<AccessRules | null> {
    const [row] = await tx.rows<AccessRules>(Prisma.sql`
      SELECT allowed_addresses, key_max_age_seconds FROM accounts WHERE id = ${accountId}::uuid`);
    return row ?? null;
  }

  async write(tx: Statements, accountId: string, rules: AccessRules): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE accounts SET allowed_addresses = ${rules.allowedAddresses}::text[], key_max_age_seconds = ${rules.keyMaxAgeSeconds}::int,
        updated_at = now()
      WHERE id = ${accountId}::uuid AND closed_at IS NULL`);
  }

  /**
   * Have every key of the account that works end at this age, or at none: as it was to end without an age, if that is before. A key that has
   * ended stays so. One whose end moves to a later time is announced again before that.
   *
   * @returns the ids of those that end by this.
   */
  async applyMaxAge(tx: Statements, accountId: string, seconds: number | null): Promise<string[]> {
    const rows = await tx.rows<{ id: string; ended: boolean }>(Prisma.sql`
      WITH ends AS (
        SELECT k.id, ${askedEnd} AS asked_at, k.created_at + make_interval(secs => ${seconds}::int) AS aged_at
        FROM api_keys k
        WHERE k.account_id = ${accountId}::uuid AND (k.expires_at IS NULL OR k.expires_at > now())
          AND (k.revoked_at IS NULL OR k.revoked_at > now()) AND NOT k.is_session_key
        FOR UPDATE
      )
      UPDATE api_keys k SET expires_at = least(ends.asked_at, ends.aged_at),
        expires_by_age = coalesce(ends.aged_at < ends.asked_at, ends.aged_at IS NOT NULL),
        asked_expires_at = CASE WHEN coalesce(ends.aged_at < ends.asked_at, ends.aged_at IS NOT NULL) THEN ends.asked_at END,
        expiry_notice_days = CASE WHEN least(ends.asked_at, ends.aged_at) <= k.expires_at THEN k.expiry_notice_days END
      FROM ends WHERE k.id = ends.id
      RETURNING k.id, coalesce(k.expires_at <= now(), false) AS ended`);
    return rows.filter(({ ended }) => ended).map(({ id }) => id);
  }

  async writeKeyAddresses(tx: Statements, accountId: string, id: string, allowed: readonly string[]): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE api_keys SET allowed_addresses = ${[...allowed]}::text[]
      WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid`);
  }
}
