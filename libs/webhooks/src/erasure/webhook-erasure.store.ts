import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

const ofAccount = (accountId: string): Prisma.Sql =>
  Prisma.sql`m.endpoint_id IN (SELECT e.id FROM webhook_endpoints e WHERE e.account_id = ${accountId}::uuid)`;

/** The SQL that erases what was recorded to be sent, and what receivers answered. Attempts go with their messages. */
export class WebhookErasureStore {
  /** Messages about jobs and batches. @returns how many. */
  async deleteOf(
    tx: Statements,
    accountId: string,
    { jobIds, batchIds }: { jobIds: readonly string[]; batchIds: readonly string[] },
  ): Promise<number> {
    const ofJobs = await tx.execute(Prisma.sql`
      DELETE FROM webhook_messages m WHERE ${ofAccount(accountId)} AND m.job_id = ANY(${[...jobIds]}::uuid[])`);
    if (batchIds.length === 0) return ofJobs;
    const ofBatches = await tx.execute(Prisma.sql`
      DELETE FROM webhook_messages m WHERE ${ofAccount(accountId)} AND m.batch_id = ANY(${[...batchIds]}::uuid[])`);
    return ofJobs + ofBatches;
  }

  /**
   * Notices that name a value of a label or a key: a page of the account's messages is read, in the order of their ids.
   *
   * @returns the last of it; null: none was left.
   */
  async deleteNotices(
    tx: Statements,
    accountId: string,
    { label, value, keyIds }: { label: string; value: string; keyIds: readonly string[] },
    { after, limit }: { after: string; limit: number },
  ): Promise<{ deleted: number; last: string | null }> {
    const [row] = await tx.rows<{ deleted: number; last: string | null }>(Prisma.sql`
      WITH page AS (
        SELECT m.id, m.type, m.data FROM webhook_messages m
        WHERE ${ofAccount(accountId)} AND m.id > ${after}::uuid ORDER BY m.id LIMIT ${limit}
      ), gone AS (
        DELETE FROM webhook_messages m USING page p
        WHERE m.id = p.id AND (
          (p.type = 'key.expiring' AND p.data ->> 'id' = ANY(${[...keyIds]}::text[]))
          OR (p.type = 'spend.warning' AND (p.data @> ${JSON.stringify({ label, value })}::jsonb OR p.data ->> 'key_id' = ANY(${[...keyIds]}::text[]))))
        RETURNING 1
      )
      SELECT (SELECT count(*) FROM gone)::int AS deleted, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last`);
    return row ?? { deleted: 0, last: null };
  }

  /** Have nothing more recorded for the account or sent to it. Where it went is kept. */
  async stopEndpoints(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE webhook_endpoints SET deleted_at = now(), updated_at = now()
      WHERE account_id = ${accountId}::uuid AND deleted_at IS NULL`);
  }

  /** Have nothing more recorded for the account or sent to it, and forget where that went; a loop deletes the rows later. */
  async closeEndpoints(tx: Statements, accountId: string): Promise<number> {
    return tx.execute(Prisma.sql`
      UPDATE webhook_endpoints
      SET deleted_at = coalesce(deleted_at, now()), updated_at = now(), url = 'https://erased.invalid/', description = '', origin = ''
      WHERE account_id = ${accountId}::uuid`);
  }

  /** Secrets of the account's endpoints, and messages, at most `limit`. @returns how many messages went. */
  async deleteMessages(tx: Statements, accountId: string, limit: number): Promise<number> {
    await tx.execute(Prisma.sql`
      DELETE FROM webhook_secrets WHERE endpoint_id IN (SELECT id FROM webhook_endpoints WHERE account_id = ${accountId}::uuid)`);
    return tx.execute(Prisma.sql`
      DELETE FROM webhook_messages WHERE id IN (SELECT m.id FROM webhook_messages m WHERE ${ofAccount(accountId)} LIMIT ${limit})`);
  }
}
