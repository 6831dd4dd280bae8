import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** A sub-key whose label is to be erased, by its labels. */
export interface LabelValue {
  label: string;
  value: string;
}

const withLabel = (accountId: string, { label, value }: LabelValue): Prisma.Sql =>
  Prisma.sql`account_id = ${accountId}::uuid AND labels @> ${JSON.stringify({ [label]: value })}::jsonb`;

/** The SQL that closes accounts, and takes from them, their keys and the log of acts what names somebody. */
export class AccountErasureStore {
  /**
   * Close a customer's account: suspended for good, without keys and sessions, and from where they were used. By their hashes its keys are
   * known no more, so that the log has no address of who presents them. Closed again, it is as it was.
   *
   * @returns false when there is no such account, or it is one of the service's own.
   */
  async close(tx: Statements, accountId: string): Promise<boolean> {
    const closed = await tx.execute(Prisma.sql`
      UPDATE accounts SET status = 'suspended', closed_at = coalesce(closed_at, now()), allowed_addresses = '{}', updated_at = now()
      WHERE id = ${accountId}::uuid AND kind = 'customer'`);
    if (closed === 0) return false;
    await tx.execute(Prisma.sql`
      UPDATE api_keys SET revoked_at = now()
      WHERE account_id = ${accountId}::uuid AND (revoked_at IS NULL OR revoked_at > now())`);
    await tx.execute(Prisma.sql`
      UPDATE api_keys SET allowed_addresses = '{}', key_hash = ${randomHash} WHERE account_id = ${accountId}::uuid`);
    await this.forgetWritten(tx, accountId);
    return true;
  }

  /** Delete links, sessions, invitations and mails of a closed account. What was under way as it was closed may have written more of them. */
  async forgetWritten(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`DELETE FROM sign_in_links WHERE account_id = ${accountId}::uuid`);
    await tx.execute(Prisma.sql`DELETE FROM console_sessions WHERE account_id = ${accountId}::uuid`);
    await tx.execute(Prisma.sql`DELETE FROM invitations WHERE account_id = ${accountId}::uuid`);
    await tx.execute(Prisma.sql`DELETE FROM invitation_mails WHERE account_id = ${accountId}::uuid`);
    await tx.execute(Prisma.sql`DELETE FROM mail_messages WHERE account_id = ${accountId}::uuid`);
  }

  /** End the sub-keys that carry a label, and forget from where they were used, and their hashes. @returns how many had not ended. */
  async revokeSubKeys(tx: Statements, accountId: string, of: LabelValue): Promise<number> {
    await this.hold(tx, accountId);
    await tx.execute(Prisma.sql`UPDATE api_keys SET allowed_addresses = '{}' WHERE ${withLabel(accountId, of)}`);
    await this.forgetHashes(tx, accountId, of);
    return tx.execute(Prisma.sql`
      UPDATE api_keys SET revoked_at = now()
      WHERE ${withLabel(accountId, of)} AND (revoked_at IS NULL OR revoked_at > now())`);
  }

  /** Give sub-keys that carry a label hashes of nothing, so that the log names none of them any more that is presented. */
  async forgetHashes(tx: Statements, accountId: string, of: LabelValue): Promise<void> {
    await this.hold(tx, accountId);
    await tx.execute(Prisma.sql`UPDATE api_keys SET key_hash = ${randomHash} WHERE ${withLabel(accountId, of)}`);
  }

  /** Ids of sub-keys that carry a label. */
  async subKeys(tx: Statements, accountId: string, of: LabelValue): Promise<string[]> {
    const rows = await tx.rows<{ id: string }>(Prisma.sql`SELECT id FROM api_keys WHERE ${withLabel(accountId, of)}`);
    return rows.map(({ id }) => id);
  }

  /**
   * Take name and labels from sub-keys that carry a label. What they were known by can be presented no more: their hash becomes one of
   * nothing.
   */
  async forgetSubKeys(tx: Statements, accountId: string, of: LabelValue, pseudonym: string): Promise<number> {
    await this.hold(tx, accountId);
    return tx.execute(Prisma.sql`
      UPDATE api_keys
      SET name = ${pseudonym}, labels = ${JSON.stringify({ [of.label]: pseudonym })}::jsonb, key_hash = ${randomHash}
      WHERE ${withLabel(accountId, of)}`);
  }

  /** Take from a closed account its name and its settings, from its keys names, labels and hashes, and from its members their addresses. @returns how many keys. */
  async forget(tx: Statements, accountId: string, pseudonym: string): Promise<number> {
    await tx.execute(Prisma.sql`
      UPDATE accounts SET name = ${pseudonym}, submission_defaults = NULL, updated_at = now()
      WHERE id = ${accountId}::uuid AND closed_at IS NOT NULL`);
    await tx.execute(Prisma.sql`
      UPDATE members m SET email = ${pseudonym} || '-' || m.id
      WHERE m.account_id = ${accountId}::uuid AND EXISTS (SELECT FROM accounts a WHERE a.id = m.account_id AND a.closed_at IS NOT NULL)`);
    return tx.execute(Prisma.sql`
      UPDATE api_keys k
      SET name = ${pseudonym}, labels = CASE WHEN k.labels IS NOT NULL THEN jsonb_build_object('erased', ${pseudonym}::text) END,
          key_hash = ${randomHash}
      WHERE k.account_id = ${accountId}::uuid AND EXISTS (SELECT FROM accounts a WHERE a.id = k.account_id AND a.closed_at IS NOT NULL)`);
  }

  /**
   * Strike out what a page of the account's log of acts says.
   *
   * @param of only of entries that name the label with the value, or one of the keys by its id; null: of all.
   * @returns how many entries, and the last of the page; null when there was none.
   */
  async redactLog(
    tx: Statements,
    accountId: string,
    of: (LabelValue & { keyIds: readonly string[] }) | null,
    { after, limit }: { after: string; limit: number },
  ): Promise<{ redacted: number; last: string | null }> {
    const texts = of && [JSON.stringify({ label: of.label, value: of.value }), ...of.keyIds];
    const [row] = await tx.rows<{ redacted: number; last: string | null }>(Prisma.sql`
      SELECT redacted, last FROM redact_audit_log(${accountId}::uuid, ${texts}::text[], ${after}::uuid, ${limit}::int)`);
    return row ?? { redacted: 0, last: null };
  }

  /** Hold the account's row, also of one that is closed: keys that are being made are there for the next statement, and none is made until the transaction ends. */
  private async hold(tx: Statements, accountId: string): Promise<void> {
    await tx.rows(Prisma.sql`SELECT id FROM accounts WHERE id = ${accountId}::uuid FOR NO KEY UPDATE`);
  }
}

/** Of no key: SHA-256 of two random ids. */
const randomHash = Prisma.sql`sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))`;
