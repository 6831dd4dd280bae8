import { Prisma } from '@prisma/client';
import type { JobMetadata } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { AssetScope, UploadFields } from '../records';

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

const columns = Prisma.sql`
  u.id, u.account_id, u.handle, u.size_bytes::float8, u.part_bytes, u.fields, u.asset_id, u.created_at, u.expires_at`;

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
      WHERE (SELECT count(*) FROM resumable_uploads o
        WHERE o.account_id = ${draft.accountId}::uuid AND o.asset_id IS NULL AND o.expires_at > now()) < ${terms.openLimit}
      RETURNING ${columns}`);
    return upload ?? null;
  }

  async find(tx: Statements, { accountId, labels }: AssetScope, id: string): Promise<ResumableUpload | null> {
    const own = labels && JSON.stringify(labels);
    const [upload] = await tx.rows<ResumableUpload>(Prisma.sql`
      SELECT ${columns} FROM resumable_uploads u
      WHERE u.account_id = ${accountId}::uuid AND u.id = ${id}::uuid AND u.expires_at > now()
        AND (${own}::jsonb IS NULL OR u.fields -> 'labels' @> ${own}::jsonb)`);
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

  /** Set the asset that an upload became, once. @returns false when it has one already, or is gone. */
  async complete(tx: Statements, accountId: string, id: string, assetId: string): Promise<boolean> {
    const { count } = await tx.models.resumableUpload.updateMany({
      where: { accountId, id, assetId: null },
      data: { assetId },
    });
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

  /** Uploads of the account that no request is completing, by id. @param labels only those of files that carry them; null: all. */
  async listOf(
    tx: Statements,
    accountId: string,
    labels: JobMetadata | null,
    limit: number,
  ): Promise<ResumableUpload[]> {
    const own = labels && JSON.stringify(labels);
    return tx.rows(Prisma.sql`
      SELECT ${columns} FROM resumable_uploads u
      WHERE u.account_id = ${accountId}::uuid AND coalesce(u.held_until, '-infinity') < now()
        AND (${own}::jsonb IS NULL OR u.fields -> 'labels' @> ${own}::jsonb)
      ORDER BY u.id LIMIT ${limit}`);
  }

  /** Expired uploads of all accounts that no request is completing, by id. @param afterId null: from the first. */
  async listExpired(tx: Statements, afterId: string | null, limit: number): Promise<ResumableUpload[]> {
    return tx.rows(Prisma.sql`
      SELECT ${columns} FROM resumable_uploads u
      WHERE u.expires_at <= now() AND coalesce(u.held_until, '-infinity') < now()
        AND (u.id > ${afterId}::uuid) IS NOT FALSE
      ORDER BY u.id LIMIT ${limit}`);
  }
}
