import { Prisma } from '@prisma/client';
import type { JobMetadata } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { RESERVED_SECONDS, type CondemnedBlob } from '../records';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
/** `orphaned_at` of a condemned blob, as in `blob-record.store.ts`. */
const CONDEMNED = Prisma.sql`'-infinity'::timestamptz`;
const refersTo = Prisma.sql`
  EXISTS (SELECT FROM job_inputs i WHERE i.asset_id = a.id)
  OR EXISTS (SELECT FROM job_outputs o WHERE o.asset_id = a.id)
  OR EXISTS (SELECT FROM models m WHERE m.asset_id = a.id)`;

/** The SQL that erases assets and their blobs. Every method takes the account. */
export class AssetErasureStore {
  /** Lock the blobs of these assets, before the assets themselves, in the order that holds everywhere. */
  async lockBlobs(tx: Statements, accountId: string, ids: readonly string[]): Promise<void> {
    await tx.execute(Prisma.sql`
      SELECT 1 FROM blobs b
      WHERE b.account_id = ${accountId}::uuid AND b.hash IN (
        SELECT a.hash FROM assets a WHERE a.id = ANY(${[...ids]}::uuid[]) AND a.account_id = ${accountId}::uuid)
      ORDER BY b.account_id, b.hash FOR NO KEY UPDATE`);
  }

  /** Delete those of the assets that no job and no model refers to. @returns the hashes of what they referred to. */
  async delete(tx: Statements, accountId: string, ids: readonly string[]): Promise<string[]> {
    const rows = await tx.rows<{ hash: string }>(Prisma.sql`
      DELETE FROM assets a
      WHERE a.id = ANY(${[...ids]}::uuid[]) AND a.account_id = ${accountId}::uuid AND NOT (${refersTo})
      RETURNING a.hash`);
    return rows.map(({ hash }) => hash);
  }

  /**
   * Take from assets that others refer to what names them, but for the ending of the file's name, by which engines know its kind. They
   * expire as soon as no job reads them any more; one that is a model's stays as long as the model.
   */
  async strip(tx: Statements, accountId: string, ids: readonly string[]): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE assets a
      SET file_path = 'erased' || coalesce(substring(a.file_path FROM '\.[A-Za-z0-9]{1,10}$'), ''), tags = '{}', labels = NULL,
          expires_at = CASE WHEN EXISTS (SELECT FROM models m WHERE m.asset_id = a.id) THEN NULL ELSE least(a.expires_at, coalesce((
            SELECT max(j.deadline_at) FROM job_inputs i JOIN jobs j ON j.id = i.job_id WHERE i.asset_id = a.id AND j.delivery <> 'done'
          ), now())) END
      WHERE a.id = ANY(${[...ids]}::uuid[]) AND a.account_id = ${accountId}::uuid`);
  }

  /** End the life of blobs to which no asset refers any more. Their row locks must have been taken by `lockBlobs`. */
  async condemn(tx: Statements, accountId: string, hashes: readonly string[]): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE blobs b SET orphaned_at = ${CONDEMNED}
      WHERE b.account_id = ${accountId}::uuid AND b.hash = ANY(${[...hashes]}::text[])
        AND NOT EXISTS (SELECT FROM assets a WHERE a.account_id = b.account_id AND a.hash = b.hash)`);
  }

  /** End the life of every blob of an account to which no asset refers. */
  async condemnOrphans(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE blobs b SET orphaned_at = ${CONDEMNED}
      WHERE b.account_id = ${accountId}::uuid AND b.orphaned_at > ${CONDEMNED}
        AND NOT EXISTS (SELECT FROM assets a WHERE a.account_id = b.account_id AND a.hash = b.hash)`);
  }

  /** Condemned blobs whose bytes are still to be removed. @param without hashes of those that are left out. */
  async listCondemned(
    statements: Statements,
    accountId: string,
    limit: number,
    without: readonly string[],
  ): Promise<CondemnedBlob[]> {
    return statements.rows(Prisma.sql`
      SELECT b.account_id, b.hash, b.created_at AS born_at, b.size_bytes::float8, 'condemned' AS state, '' AS turn
      FROM blobs b WHERE b.account_id = ${accountId}::uuid AND b.orphaned_at = ${CONDEMNED}
        AND b.hash <> ALL(${[...without]}::text[]) LIMIT ${limit}`);
  }

  /** Assets of the account, outputs and uploads, each by its index in the order of time. @param after place of the last one. */
  async list(
    statements: Statements,
    accountId: string,
    { after, limit }: { after: string | null; limit: number },
  ): Promise<{ id: string; place: string }[]> {
    const [since = '-infinity', id = BEFORE_ALL] = after?.split(' ') ?? [];
    const those = (condition: Prisma.Sql): Prisma.Sql => Prisma.sql`
      (SELECT a.id, a.created_at FROM assets a
       WHERE a.account_id = ${accountId}::uuid AND ${condition} AND (a.created_at, a.id) > (${since}::timestamptz, ${id}::uuid)
       ORDER BY a.created_at, a.id LIMIT ${limit})`;
    return statements.rows(Prisma.sql`
      SELECT r.id, concat_ws(' ', replace(r.created_at::text, ' ', 'T'), r.id) AS place FROM (
        ${those(Prisma.sql`a.job_id IS NOT NULL`)} UNION ALL ${those(Prisma.sql`a.job_id IS NULL`)}
        ORDER BY created_at, id LIMIT ${limit}
      ) r ORDER BY r.created_at, r.id`);
  }

  /** Uploads that carry these labels. */
  async listLabelled(
    statements: Statements,
    accountId: string,
    labels: JobMetadata,
    { after, limit }: { after: string | null; limit: number },
  ): Promise<{ id: string; place: string }[]> {
    // Materialized, or the planner may walk over all assets in the order of their ids.
    return statements.rows(Prisma.sql`
      WITH own AS MATERIALIZED (
        SELECT a.id FROM assets a WHERE a.account_id = ${accountId}::uuid AND a.labels @> ${JSON.stringify(labels)}::jsonb)
      SELECT id, id::text AS place FROM own WHERE id > ${after ?? BEFORE_ALL}::uuid ORDER BY id LIMIT ${limit}`);
  }

  /**
   * Whether an upload that began before this time is on its way in: it has room reserved. Those in parts are deleted, not waited for. When it
   * began follows from when its room ends, by the database's clock; its id has the time of the process that took it in.
   */
  async hasUploadBefore(statements: Statements, accountId: string, time: Date): Promise<boolean> {
    const rows = await statements.query(Prisma.sql`
      SELECT 1 FROM storage_reservations r
      WHERE r.account_id = ${accountId}::uuid AND r.expires_at > now()
        AND r.expires_at < ${time.toISOString()}::timestamptz + make_interval(secs => ${RESERVED_SECONDS})
        AND NOT EXISTS (SELECT FROM resumable_uploads u WHERE u.id = r.id) LIMIT 1`);
    return rows.length > 0;
  }

  /** Forget how much was uploaded on which day, and room that nobody needs any more. */
  async forgetUse(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`DELETE FROM upload_days WHERE account_id = ${accountId}::uuid`);
    await tx.execute(Prisma.sql`DELETE FROM storage_reservations WHERE account_id = ${accountId}::uuid`);
  }
}
