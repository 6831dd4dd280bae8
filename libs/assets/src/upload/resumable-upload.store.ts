import { Prisma } from '@prisma/client';
import type { JobMetadata } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { AssetScope, UploadFields } from '../records';
import type { PartSpec } from '../store';

/** A large file on its way in, part by part. */
export interface ResumableUpload {
  id: string;
  accountId: string;
  /** The name of the parts in the store. */
  handle: string;
  sizeBytes: number;
  /** Size of every part but the last. */
  partBytes: number;
  fields: UploadFields;
  /** The asset that it became; null until it was completed. */
  assetId: string | null;
  createdAt: Date;
  expiresAt: Date;
}

/** The parts that a file comes in. */
export function specsOf({ sizeBytes, partBytes }: ResumableUpload): PartSpec[] {
  return Array.from({ length: Math.ceil(sizeBytes / partBytes) }, (_, index) => ({
    number: index + 1,
    sizeBytes: Math.min(partBytes, sizeBytes - index * partBytes),
  }));
}

const columns = Prisma.sql`
  u.id, u.account_id, u.handle, u.size_bytes::float8, u.part_bytes, u.fields, u.asset_id, u.created_at, u.expires_at`;

/** A request is completing it. */
const isHeld = Prisma.sql`coalesce(u.held_until, '-infinity') >= now()`;
/** @param labels null: whichever it has. */
function isOf(accountId: string, labels: JobMetadata | null): Prisma.Sql {
  const own = labels && JSON.stringify(labels);
  return Prisma.sql`u.account_id = ${accountId}::uuid AND (${own}::jsonb IS NULL OR u.fields -> 'labels' @> ${own}::jsonb)`;
}

/** The SQL of resumable uploads. Every method takes the account: another's upload is not found, nor for a sub-key another sub-key's. */
export class ResumableUploadStore {
  /** Record an upload, unless the account has `openLimit` open ones. @returns null then. */
  async insert(
    tx: Statements,
    draft: Pick<ResumableUpload, 'id' | 'accountId' | 'handle' | 'sizeBytes' | 'partBytes' | 'fields'>,
    terms: { lifetimeSeconds: number; openLimit: number },
  ): Promise<ResumableUpload | null> {
    const [upload] = await tx.rows<ResumableUpload>(Prisma.sql`
      INSERT INTO resumable_uploads AS u (id, account_id, handle, size_bytes, part_bytes, fields, expires_at)
      SELECT ${draft.id}::uuid, ${draft.accountId}::uuid, ${draft.handle}, ${draft.sizeBytes}, ${draft.partBytes},
        ${JSON.stringify(draft.fields)}::jsonb, now() + make_interval(secs => ${terms.lifetimeSeconds})
      WHERE (SELECT count(*) FROM (
        SELECT FROM resumable_uploads o
        WHERE o.account_id = ${draft.accountId}::uuid AND o.asset_id IS NULL AND o.expires_at > now() LIMIT ${terms.openLimit}) open) < ${terms.openLimit}
      RETURNING ${columns}`);
    return upload ?? null;
  }

  /** When the next of the account's open uploads ends by itself; null where none is open. */
  async nextEnd(tx: Statements, accountId: string): Promise<Date | null> {
    const [next] = await tx.rows<{ endsAt: Date | null }>(Prisma.sql`
      SELECT min(expires_at) AS ends_at FROM resumable_uploads
      WHERE account_id = ${accountId}::uuid AND asset_id IS NULL AND expires_at > now()`);
    return next?.endsAt ?? null;
  }

  /** Whether the account takes nothing any more: it is being erased. */
  async isClosed(tx: Statements, accountId: string): Promise<boolean> {
    const rows = await tx.query(Prisma.sql`
      SELECT 1 FROM accounts WHERE id = ${accountId}::uuid AND closed_at IS NOT NULL`);
    return rows.length > 0;
  }

  /** An upload that is open, or became an asset and is not swept yet: who repeats its end finds the asset. */
  async find(tx: Statements, { accountId, labels }: AssetScope, id: string): Promise<ResumableUpload | null> {
    const [upload] = await tx.rows<ResumableUpload>(Prisma.sql`
      SELECT ${columns} FROM resumable_uploads u
      WHERE ${isOf(accountId, labels)} AND u.id = ${id}::uuid AND (u.expires_at > now() OR u.asset_id IS NOT NULL)`);
    return upload ?? null;
  }

  /** Hold an upload that was not completed, so that only this request completes it. @returns false when another holds it. */
  async hold(tx: Statements, accountId: string, id: string, holdSeconds: number): Promise<boolean> {
    const count = await tx.execute(Prisma.sql`
      UPDATE resumable_uploads SET held_until = now() + make_interval(secs => ${holdSeconds})
      WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid AND asset_id IS NULL
        AND coalesce(held_until, '-infinity') < now()`);
    return count > 0;
  }

  /** Prolong the hold on an upload while its request is at work. */
  async renew(tx: Statements, accountId: string, id: string, holdSeconds: number): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE resumable_uploads SET held_until = now() + make_interval(secs => ${holdSeconds})
      WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid AND asset_id IS NULL AND held_until IS NOT NULL`);
  }

  async release(tx: Statements, accountId: string, id: string): Promise<void> {
    await tx.models.resumableUpload.updateMany({ where: { accountId, id }, data: { heldUntil: null } });
  }

  /** Set the asset that an upload became, once. @returns false when it has one already, or is gone, or its account was closed. */
  async complete(tx: Statements, accountId: string, id: string, assetId: string): Promise<boolean> {
    const count = await tx.execute(Prisma.sql`
      UPDATE resumable_uploads SET asset_id = ${assetId}::uuid
      WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid AND asset_id IS NULL
        AND EXISTS (SELECT FROM accounts a WHERE a.id = ${accountId}::uuid AND a.closed_at IS NULL)`);
    return count > 0;
  }

  /** Delete an upload, and the room that is reserved for it. @returns false when it was gone. */
  async remove(tx: Statements, accountId: string, id: string): Promise<boolean> {
    const count = await tx.execute(Prisma.sql`
      WITH freed AS (
        DELETE FROM storage_reservations WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid
      )
      DELETE FROM resumable_uploads WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid`);
    return count > 0;
  }

  /** Uploads of the account that no request is completing, by id. @param labels only those of files that carry them; null: all. @param afterId null: from the first. */
  async listOf(
    tx: Statements,
    accountId: string,
    labels: JobMetadata | null,
    limit: number,
    afterId: string | null,
  ): Promise<ResumableUpload[]> {
    return tx.rows(Prisma.sql`
      SELECT ${columns} FROM resumable_uploads u
      WHERE ${isOf(accountId, labels)} AND NOT ${isHeld} AND coalesce(u.id > ${afterId}::uuid, true)
      ORDER BY u.id LIMIT ${limit}`);
  }

  /** Whether a request is completing one of those. */
  async hasHeld(tx: Statements, accountId: string, labels: JobMetadata | null): Promise<boolean> {
    const rows = await tx.query(Prisma.sql`
      SELECT 1 FROM resumable_uploads u WHERE ${isOf(accountId, labels)} AND ${isHeld} LIMIT 1`);
    return rows.length > 0;
  }

  /**
   * Expired uploads of all accounts that no request is completing, by id; but none that became an asset and whose model is not ready yet: it alone
   * says which asset is the model's.
   *
   * @param afterId null: from the first.
   */
  async listExpired(tx: Statements, afterId: string | null, limit: number): Promise<ResumableUpload[]> {
    return tx.rows(Prisma.sql`
      SELECT ${columns} FROM resumable_uploads u
      WHERE u.expires_at <= now() AND NOT ${isHeld}
        AND NOT (u.asset_id IS NOT NULL
          AND EXISTS (SELECT FROM models m WHERE m.upload_id = u.id AND m.state IN ('uploading', 'importing')))
        AND (u.id > ${afterId}::uuid) IS NOT FALSE
      ORDER BY u.id LIMIT ${limit}`);
  }
}
