import { Prisma } from '@prisma/client';
import type { JobMetadata } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { AssetRecord } from './asset';
import { isInScope, isOneInScope, wholeAccount, type AssetScope } from './asset-scope.store';
import { damageOf, type BlobMarks, type BlobRef, type StoredBlob } from './blob';
import { isThis } from './blob-record.store';

/** An asset about to be recorded. */
export interface AssetDraft {
  id: string;
  blob: BlobRef;
  contentType: string;
  filePath: string | null;
  tags: string[];
  labels: JobMetadata | null;
}

/** What a run sees of an input. */
export interface InputContent {
  hash: string;
  contentType: string;
  filePath: string | null;
}

/** An asset past its expiry, and its turn among those: what a sweep goes on from. */
export interface ExpiredAsset extends Pick<BlobRef, 'accountId' | 'hash'> {
  id: string;
  turn: string;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
/** How long the removal of an asset waits for a locked row: longer than other statements hold one, and far less than a batch does that is recorded. */
const LOCK_WAIT_MS = 250;

/** An asset and what a blob adds to it, in one row. */
export type AssetRow = Omit<AssetRecord, 'blob' | 'damage'> &
  Pick<StoredBlob, 'hash' | 'bornAt' | 'sizeBytes'> &
  BlobMarks;

export const assetColumns = Prisma.sql`
  a.id, a.account_id, a.job_id, a.hash, b.created_at AS born_at, a.size_bytes::float8, a.content_type, a.file_path, a.tags,
  a.created_at, a.expires_at, b.lost_at, b.damaged_at`;
const assetsAndBlobs = Prisma.sql`assets a JOIN blobs b ON b.account_id = a.account_id AND b.hash = a.hash`;
export const unexpired = Prisma.sql`(a.expires_at IS NULL OR a.expires_at > now())`;
const unreferenced = Prisma.sql`
  NOT EXISTS (SELECT 1 FROM job_inputs i WHERE i.asset_id = a.id)
  AND NOT EXISTS (SELECT 1 FROM job_outputs o WHERE o.asset_id = a.id)
  AND NOT EXISTS (SELECT 1 FROM models m WHERE m.asset_id = a.id)`;

/** The SQL of assets. Every method takes the account: another's asset is not found. */
export class AssetStore {
  /** Assets of the account among `ids`, whether expired or not. */
  async findMany(tx: Statements, accountId: string, ids: string[]): Promise<AssetRecord[]> {
    const rows = await tx.rows<AssetRow>(Prisma.sql`
      SELECT ${assetColumns} FROM ${assetsAndBlobs} WHERE ${isOneInScope(wholeAccount(accountId))} AND a.id = ANY(${ids}::uuid[])`);
    return rows.map(recordOf);
  }

  /** An asset that a customer can see: not expired. */
  async find(tx: Statements, scope: AssetScope, id: string): Promise<AssetRecord | null> {
    const [row] = await tx.rows<AssetRow>(Prisma.sql`
      SELECT ${assetColumns} FROM ${assetsAndBlobs}
      WHERE ${isOneInScope(scope)} AND a.id = ${id}::uuid AND ${unexpired}`);
    return row === undefined ? null : recordOf(row);
  }

  /** Ids of the scope's unexpired assets among `ids`. */
  async owned(tx: Statements, scope: AssetScope, ids: string[]): Promise<string[]> {
    const rows = await tx.rows<{ id: string }>(Prisma.sql`
      SELECT a.id FROM assets a WHERE ${isOneInScope(scope)} AND a.id = ANY(${ids}::uuid[]) AND ${unexpired}`);
    return rows.map((row) => row.id);
  }

  /** What the account's unexpired assets among `ids` contain. */
  async contents(tx: Statements, accountId: string, ids: string[]): Promise<(InputContent & { id: string })[]> {
    return tx.rows(Prisma.sql`
      SELECT a.id, a.hash, a.content_type, a.file_path FROM assets a
      WHERE ${isOneInScope(wholeAccount(accountId))} AND a.id = ANY(${ids}::uuid[]) AND ${unexpired}`);
  }

  /** The upload with the same content, path, tags and labels, and the same content type where one is given; locked. */
  async findIdentical(
    tx: Statements,
    { accountId, hash }: BlobRef,
    like: Pick<AssetDraft, 'filePath' | 'tags' | 'labels'> & { contentType: string | null },
  ): Promise<string | null> {
    const [row] = await tx.rows<{ id: string }>(Prisma.sql`
      SELECT a.id FROM assets a
      WHERE a.account_id = ${accountId}::uuid AND a.hash = ${hash} AND a.job_id IS NULL AND ${unexpired}
        AND a.file_path IS NOT DISTINCT FROM ${like.filePath} AND a.tags @> ${like.tags}::text[]
        AND a.labels IS NOT DISTINCT FROM ${like.labels && JSON.stringify(like.labels)}::jsonb AND a.tags <@ ${like.tags}::text[] AND a.content_type = coalesce(${like.contentType}, a.content_type)
      ORDER BY a.id LIMIT 1 FOR NO KEY UPDATE`);
    return row?.id ?? null;
  }

  /** The content type of the latest asset of the scope over this content. */
  async contentTypeOf(tx: Statements, scope: AssetScope, hash: string): Promise<string | null> {
    const [row] = await tx.rows<{ contentType: string }>(Prisma.sql`
      SELECT a.content_type FROM assets a WHERE ${isInScope(scope)} AND a.hash = ${hash}
      ORDER BY a.id DESC LIMIT 1`);
    return row?.contentType ?? null;
  }

  /** True when the scope has an asset over this content with more than `leftSeconds` left; 0: any that is unexpired. */
  async has(tx: Statements, scope: AssetScope, hash: string, leftSeconds: number): Promise<boolean> {
    const rows = await tx.query(Prisma.sql`
      SELECT 1 FROM assets a WHERE ${isInScope(scope)} AND a.hash = ${hash}
        AND (a.expires_at IS NULL OR a.expires_at > now() + make_interval(secs => ${leftSeconds})) LIMIT 1`);
    return rows.length > 0;
  }

  /** Record an upload. The blob must have been adopted in `tx`. @param keepSeconds null: without an end. @returns false when the account was closed. */
  async insertUpload(tx: Statements, draft: AssetDraft, keepSeconds: number | null): Promise<boolean> {
    const count = await tx.execute(Prisma.sql`
      INSERT INTO assets (id, account_id, hash, size_bytes, content_type, file_path, tags, labels, expires_at)
      SELECT ${draft.id}::uuid, b.account_id, b.hash, b.size_bytes, ${draft.contentType}, ${draft.filePath},
        ${draft.tags}::text[], ${draft.labels && JSON.stringify(draft.labels)}::jsonb, now() + make_interval(secs => ${keepSeconds})
      FROM blobs b JOIN accounts o ON o.id = b.account_id AND o.closed_at IS NULL WHERE ${isThis(draft.blob)}`);
    return count > 0;
  }

  /** Keep an asset for `keepSeconds` from now (null: without an end), if that is longer than it has left. */
  async extend(tx: Statements, accountId: string, id: string, keepSeconds: number | null): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE assets a SET expires_at = now() + make_interval(secs => ${keepSeconds})
      WHERE a.account_id = ${accountId}::uuid AND a.id = ${id}::uuid
        AND coalesce(now() + make_interval(secs => ${keepSeconds}), 'infinity') > a.expires_at`);
  }

  /** Have the transaction wait for no locked row longer than LOCK_WAIT_MS: what does fails with SQLSTATE 55P03 (see `isLockTimeout`). */
  async boundLockWaits(tx: Statements): Promise<void> {
    await tx.query(Prisma.sql`SELECT set_config('lock_timeout', ${`${LOCK_WAIT_MS}ms`}, true)`);
  }

  /** Lock the blob of an unexpired asset until the transaction ends. @returns null when there is no such asset. */
  async lockBlobOf(tx: Statements, scope: AssetScope, id: string): Promise<Pick<BlobRef, 'accountId' | 'hash'> | null> {
    const [row] = await tx.rows<{ hash: string }>(Prisma.sql`
      SELECT b.hash FROM ${assetsAndBlobs}
      WHERE ${isOneInScope(scope)} AND a.id = ${id}::uuid AND ${unexpired}
      FOR NO KEY UPDATE OF b`);
    return row === undefined ? null : { accountId: scope.accountId, hash: row.hash };
  }

  /** @returns false when it was gone. @throws ConstraintError `foreign_key` while a job or a model refers to it. */
  async remove(tx: Statements, accountId: string, id: string): Promise<boolean> {
    const count = await tx.execute(Prisma.sql`
      DELETE FROM assets WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid`);
    return count > 0;
  }

  /** Expired assets that no job and no model refers to, of every account, the longest expired first. */
  async listExpired(tx: Statements, after: string | null, limit: number): Promise<ExpiredAsset[]> {
    const [since = '-infinity', id = BEFORE_ALL] = after?.split(' ') ?? [];
    return tx.rows(Prisma.sql`
      SELECT a.id, a.account_id, a.hash, concat_ws(' ', replace(a.expires_at::text, ' ', 'T'), a.id) AS turn FROM assets a
      WHERE a.expires_at <= now() AND (a.expires_at, a.id) > (${since}::timestamptz, ${id}::uuid) AND ${unreferenced}
      ORDER BY a.expires_at, a.id LIMIT ${limit}`);
  }

  /**
   * Lock those of the assets that are still expired, after their blobs, so that neither a mint nor a job can come between. Rows
   * that others hold are left for the next run.
   */
  async lockExpired(tx: Statements, expired: readonly ExpiredAsset[]): Promise<Omit<ExpiredAsset, 'turn'>[]> {
    const accountIds = expired.map(({ accountId }) => accountId);
    const hashes = expired.map(({ hash }) => hash);
    await tx.execute(Prisma.sql`
      SELECT 1 FROM blobs b
      WHERE (b.account_id, b.hash) IN (SELECT * FROM unnest(${accountIds}::uuid[], ${hashes}::text[]))
      ORDER BY b.account_id, b.hash FOR NO KEY UPDATE`);
    const ids = expired.map(({ id }) => id);
    return tx.rows(Prisma.sql`
      SELECT a.id, a.account_id, a.hash FROM assets a
      WHERE a.id = ANY(${ids}::uuid[]) AND a.expires_at <= now() FOR UPDATE SKIP LOCKED`);
  }

  /** Remove assets that `lockExpired` locked, except those that a job or a model refers to by now. @returns how many. */
  async removeUnreferenced(tx: Statements, ids: string[]): Promise<number> {
    return tx.execute(Prisma.sql`DELETE FROM assets a WHERE a.id = ANY(${ids}::uuid[]) AND ${unreferenced}`);
  }
}

export function recordOf({ hash, bornAt, sizeBytes, lostAt, damagedAt, ...asset }: AssetRow): AssetRecord {
  const blob = { accountId: asset.accountId, hash, bornAt, sizeBytes };
  return { ...asset, blob, damage: damageOf({ lostAt, damagedAt }) };
}
