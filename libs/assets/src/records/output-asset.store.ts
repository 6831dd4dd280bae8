import { Prisma } from '@prisma/client';
import type { NamedQuery } from '@millrace/database';
import type { BlobRef } from './blob';
import { isThis } from './blob-record.store';

/** What a job made, about to become an asset. */
export interface OutputAsset {
  id: string;
  blob: BlobRef;
  contentType: string;
  /** File name, unique within the job. */
  name: string;
}

/**
 * The SQL by which a job's output becomes an asset: parts of the statement that records it. They take locks in the order of
 * everywhere, blob before asset, and every one of them selects from what it must come after.
 */
export class OutputAssetStore {
  /**
   * Queries that keep the output's blob and make an asset over it, which expires with its job. The last of them is named
   * `asset` and yields its `id`; no row when this life of the blob is over, or when it is not the account's. The blob may
   * have been condemned since the statement began: an UPDATE that waited for its row looks at what that has become.
   *
   * @param job name of an earlier query that yields one row at most, with the columns id, account_id and expires_at.
   */
  mintQueries(output: OutputAsset, job: string): NamedQuery[] {
    const from = Prisma.raw(job);
    return [
      {
        name: 'blob',
        sql: Prisma.sql`
          UPDATE blobs b SET orphaned_at = NULL FROM ${from} j
          WHERE ${isThis(output.blob)} AND b.account_id = j.account_id
          RETURNING b.account_id, b.hash, b.size_bytes, j.id AS job_id, j.expires_at`,
      },
      {
        name: 'asset',
        sql: Prisma.sql`
          INSERT INTO assets (id, account_id, hash, size_bytes, content_type, file_path, tags, job_id, expires_at)
          SELECT ${output.id}::uuid, account_id, hash, size_bytes, ${output.contentType}, ${output.name}, '{}'::text[],
            job_id, expires_at
          FROM blob
          RETURNING id`,
      },
    ];
  }

  /**
   * A query that lets the output that another replaces expire now; the expiry loop removes it. Takes no lock on its blob.
   *
   * @param replaced name of an earlier query that yields one row at most, with the columns account_id and asset_id.
   */
  retireQuery(replaced: string): NamedQuery {
    const sql = Prisma.sql`
      UPDATE assets a SET expires_at = now() FROM ${Prisma.raw(replaced)} r
      WHERE a.account_id = r.account_id AND a.id = r.asset_id
      RETURNING 1`;
    return { name: 'retired', sql };
  }
}
