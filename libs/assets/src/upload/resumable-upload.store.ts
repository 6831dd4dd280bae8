import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { UploadFields } from '../records';

/** A large file on its way in, part by part. */
export interface ResumableUpload {
  id: string;
  accountId: string;
  /** By which the store knows its parts. */
  handle: string;
  sizeBytes: number;
  /** Size of every part but the last. */
  partBytes: number;
  fields: UploadFields;
  /** What came of it; null until it was completed. */
  assetId: string | null;
  createdAt: Date;
  expiresAt: Date;
}

interface Row {
  id: string;
  account_id: string;
  handle: string;
  size_bytes: bigint;
  part_bytes: number;
  fields: UploadFields;
  asset_id: string | null;
  created_at: Date;
  expires_at: Date;
}

const columns = Prisma.sql`
  u.id, u.account_id, u.handle, u.size_bytes, u.part_bytes, u.fields, u.asset_id, u.created_at, u.expires_at`;

/** The SQL of resumable uploads. Every method takes the account: another's upload is not found. */
export class ResumableUploadStore {
  /** Record an upload, unless the account has `openLimit` open ones. @returns null then. */
  async insert(
    tx: Statements,
    draft: Pick<ResumableUpload, 'id' | 'accountId' | 'handle' | 'sizeBytes' | 'partBytes' | 'fields'>,
    terms: { lifetimeSeconds: number; openLimit: number },
  ): Promise<ResumableUpload | null> {
    const rows = await tx.query<Row>(Prisma.sql`
      INSERT INTO resumable_uploads AS u (id, account_id, handle, size_bytes, part_bytes, fields, expires_at)
      SELECT ${draft.id}::uuid, ${draft.accountId}::uuid, ${draft.handle}, ${draft.sizeBytes}, ${draft.partBytes},
        ${JSON.stringify(draft.fields)}::jsonb, now() + make_interval(secs => ${terms.lifetimeSeconds})
      WHERE (SELECT count(*) FROM resumable_uploads o
        WHERE o.account_id = ${draft.accountId}::uuid AND o.asset_id IS NULL AND o.expires_at > now()) < ${terms.openLimit}
      RETURNING ${columns}`);
    return uploadsOf(rows)[0] ?? null;
  }

  async find(tx: Statements, accountId: string, id: string): Promise<ResumableUpload | null> {
    const rows = await tx.query<Row>(Prisma.sql`
      SELECT ${columns} FROM resumable_uploads u
      WHERE u.account_id = ${accountId}::uuid AND u.id = ${id}::uuid AND u.expires_at > now()`);
    return uploadsOf(rows)[0] ?? null;
  }

  /** Hold an upload that was not completed, so that nobody else completes it meanwhile. @returns false when somebody does. */
  async hold(tx: Statements, accountId: string, id: string, holdSeconds: number): Promise<boolean> {
    const count = await tx.execute(Prisma.sql`
      UPDATE resumable_uploads SET held_until = now() + make_interval(secs => ${holdSeconds})
      WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid AND asset_id IS NULL
        AND coalesce(held_until, '-infinity') < now()`);
    return count > 0;
  }

  async release(tx: Statements, accountId: string, id: string): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE resumable_uploads SET held_until = NULL WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid`);
  }

  async complete(tx: Statements, accountId: string, id: string, assetId: string): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE resumable_uploads SET asset_id = ${assetId}::uuid WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid`);
  }

  /** @returns false when it was gone. */
  async remove(tx: Statements, accountId: string, id: string): Promise<boolean> {
    const count = await tx.execute(Prisma.sql`
      DELETE FROM resumable_uploads WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid`);
    return count > 0;
  }

  /** Uploads of any account whose time is over, and that nobody is completing. */
  async expired(tx: Statements, limit: number): Promise<ResumableUpload[]> {
    return uploadsOf(
      await tx.query<Row>(Prisma.sql`
        SELECT ${columns} FROM resumable_uploads u
        WHERE u.expires_at <= now() AND coalesce(u.held_until, '-infinity') < now() ORDER BY u.expires_at LIMIT ${limit}`),
    );
  }
}

function uploadsOf(rows: Row[]): ResumableUpload[] {
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    handle: row.handle,
    sizeBytes: Number(row.size_bytes),
    partBytes: row.part_bytes,
    fields: row.fields,
    assetId: row.asset_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }));
}
