import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { BlobMarks, BlobRef, BlobState } from './blob';

/** A blob as recorded, whether or not its bytes are there. */
export interface BlobRecord extends BlobRef, BlobMarks {
  sizeBytes: number;
  state: BlobState;
}

/** A condemned blob, and its turn among those that are due: what the sweep goes on from. */
export interface CondemnedBlob extends BlobRecord {
  turn: string;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
/** `orphaned_at` of a condemned blob: before every time, so that the next sweep takes it first. */
const CONDEMNED = Prisma.sql`'-infinity'::timestamptz`;

const columns = Prisma.sql`
  b.account_id, b.hash, b.created_at AS born_at, b.size_bytes::float8, b.lost_at, b.damaged_at,
  CASE WHEN b.orphaned_at IS NULL THEN 'live' WHEN b.orphaned_at = ${CONDEMNED} THEN 'condemned' ELSE 'orphaned' END AS state`;

/** The SQL of blobs. Every statement that changes a blob's state, or mints an asset from it takes its row lock first. */
export class BlobRecordStore {
  /** Make sure that a record exists before the bytes do. Restarts an orphan's grace; a condemned blob stays condemned. */
  async announce(tx: Statements, accountId: string, hash: string, sizeBytes: number): Promise<BlobRecord> {
    const [blob] = await tx.rows<BlobRecord>(Prisma.sql`
      INSERT INTO blobs AS b (account_id, hash, size_bytes, orphaned_at)
      VALUES (${accountId}::uuid, ${hash}, ${sizeBytes}, now())
      ON CONFLICT (account_id, hash) DO UPDATE
        SET orphaned_at = CASE WHEN b.orphaned_at > ${CONDEMNED} THEN now() ELSE b.orphaned_at END
      RETURNING ${columns}`);
    return blob as BlobRecord;
  }

  /** Restart an orphan's grace. @returns null when there is no such blob, or it is condemned. */
  async touch(tx: Statements, accountId: string, hash: string): Promise<BlobRecord | null> {
    const [blob] = await tx.rows<BlobRecord>(Prisma.sql`
      UPDATE blobs b SET orphaned_at = CASE WHEN b.orphaned_at IS NULL THEN NULL ELSE now() END
      WHERE b.account_id = ${accountId}::uuid AND b.hash = ${hash} AND b.orphaned_at IS DISTINCT FROM ${CONDEMNED}
      RETURNING ${columns}`);
    return blob ?? null;
  }

  /**
   * Keep a blob for an asset about to be minted, and hold its row lock until the transaction ends.
   *
   * @returns what it was before; null when this life of the blob is over.
   */
  async adopt(tx: Statements, blob: BlobRef): Promise<'live' | 'orphaned' | null> {
    const [row] = await tx.rows<{ live: boolean }>(Prisma.sql`
      SELECT b.orphaned_at IS NULL AS live FROM blobs b WHERE ${isThis(blob)} FOR NO KEY UPDATE`);
    if (row === undefined) return null;
    if (row.live) return 'live';
    await tx.execute(Prisma.sql`UPDATE blobs b SET orphaned_at = NULL WHERE ${isThis(blob)}`);
    return 'orphaned';
  }

  /** Orphan a blob if no asset refers to it. The row lock must have been taken by an earlier statement of `tx`. */
  async orphanUnlessUsed(tx: Statements, blobs: Pick<BlobRef, 'accountId' | 'hash'>[]): Promise<void> {
    const accountIds = blobs.map((blob) => blob.accountId);
    const hashes = blobs.map((blob) => blob.hash);
    await tx.execute(Prisma.sql`
      UPDATE blobs b SET orphaned_at = now()
      FROM unnest(${accountIds}::uuid[], ${hashes}::text[]) AS loose (account_id, hash)
      WHERE b.account_id = loose.account_id AND b.hash = loose.hash AND b.orphaned_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM assets a WHERE a.account_id = b.account_id AND a.hash = b.hash)`);
  }

  /**
   * Condemn blobs that were orphans for `graceSeconds`; those that an earlier sweep condemned come first. Decided under the
   * row lock: a later mint finds the blob condemned.
   *
   * @param afterTurn the last one's `turn`; null: from the first.
   * @returns in the order of their turns.
   */
  async condemn(
    tx: Statements,
    graceSeconds: number,
    afterTurn: string | null,
    limit: number,
  ): Promise<CondemnedBlob[]> {
    const [since = '-infinity', accountId = BEFORE_ALL, hash = ''] = afterTurn?.split(' ') ?? [];
    return tx.rows<CondemnedBlob>(Prisma.sql`
      WITH due AS (
        SELECT o.account_id, o.hash, o.orphaned_at FROM blobs o
        WHERE o.orphaned_at < now() - make_interval(secs => ${graceSeconds})
          AND (o.orphaned_at, o.account_id, o.hash) > (${since}::timestamptz, ${accountId}::uuid, ${hash})
          AND NOT EXISTS (SELECT 1 FROM assets a WHERE a.account_id = o.account_id AND a.hash = o.hash)
        ORDER BY o.orphaned_at, o.account_id, o.hash LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
      ), condemned AS (
        UPDATE blobs b SET orphaned_at = ${CONDEMNED} FROM due
        WHERE b.account_id = due.account_id AND b.hash = due.hash
        RETURNING ${columns}, due.orphaned_at AS due_since
      )
      SELECT c.account_id, c.hash, c.born_at, c.size_bytes, c.lost_at, c.damaged_at, c.state,
        concat_ws(' ', replace(due_since::text, ' ', 'T'), c.account_id, c.hash) AS turn
      FROM condemned c ORDER BY c.due_since, c.account_id, c.hash`);
  }

  /** Delete the record of a condemned blob, once its bytes are gone. Without effect on a later life. */
  async forget(tx: Statements, { accountId, hash, bornAt }: BlobRef): Promise<void> {
    await tx.execute(Prisma.sql`
      DELETE FROM blobs b WHERE b.account_id = ${accountId}::uuid AND b.hash = ${hash}
        AND b.created_at = ${bornAt.toISOString()}::timestamptz AND b.orphaned_at = ${CONDEMNED}`);
  }

  /** The records of these contents, in any state. */
  async findMany(tx: Statements, blobs: Pick<BlobRef, 'accountId' | 'hash'>[]): Promise<BlobRecord[]> {
    const accountIds = blobs.map((blob) => blob.accountId);
    const hashes = blobs.map((blob) => blob.hash);
    return tx.rows<BlobRecord>(Prisma.sql`
      SELECT ${columns} FROM blobs b
      JOIN unnest(${accountIds}::uuid[], ${hashes}::text[]) AS named (account_id, hash)
        ON b.account_id = named.account_id AND b.hash = named.hash`);
  }

  /** Live blobs in the order of their keys, after the one given: a page of all of them. */
  async listLive(tx: Statements, after: { accountId: string; hash: string }, limit: number): Promise<BlobRecord[]> {
    return tx.rows<BlobRecord>(Prisma.sql`
      SELECT ${columns} FROM blobs b
      WHERE (b.account_id, b.hash) > (${after.accountId}::uuid, ${after.hash}) AND b.orphaned_at IS NULL
      ORDER BY b.account_id, b.hash LIMIT ${limit}`);
  }
}

/** This life of this blob, unless it is condemned. */
export function isThis({ accountId, hash, bornAt }: BlobRef): Prisma.Sql {
  return Prisma.sql`b.account_id = ${accountId}::uuid AND b.hash = ${hash}
    AND b.created_at = ${bornAt.toISOString()}::timestamptz AND b.orphaned_at IS DISTINCT FROM ${CONDEMNED}`;
}
