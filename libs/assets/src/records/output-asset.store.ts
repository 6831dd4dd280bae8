import { statementPart, type StatementPart } from '@millrace/database';
import type { BlobRef } from './blob';
import { isThis } from './blob-record.store';

/*
 * The parts by which the statement that records a job's output makes it an asset. They take locks in the order that holds
 * everywhere, blob before asset, and each selects from the part that must run before it.
 */

/** What a job made, about to become an asset. */
export interface OutputAsset {
  id: string;
  blob: BlobRef;
  contentType: string;
  /** File name, unique within the job. */
  name: string;
}

/**
 * Keep the output's blob and make an asset over it, which expires with its job. Yields the asset's `id`; no row when this
 * life of the blob is over, or when it is not the account's. The blob may have been condemned since the statement began: an
 * UPDATE that waited for its row looks at what that has become.
 *
 * @param job yields one row at most.
 */
export function mintOutputPart(
  output: OutputAsset,
  job: StatementPart<'id' | 'account_id' | 'expires_at'>,
): StatementPart<'id'> {
  const blob = statementPart<'account_id' | 'hash' | 'size_bytes' | 'job_id' | 'expires_at'>('blob')`
    UPDATE blobs b SET orphaned_at = NULL FROM ${job} j
    WHERE ${isThis(output.blob)} AND b.account_id = j.account_id
    RETURNING b.account_id, b.hash, b.size_bytes, j.id AS job_id, j.expires_at`;
  return statementPart<'id'>('asset')`
    INSERT INTO assets (id, account_id, hash, size_bytes, content_type, file_path, tags, job_id, expires_at)
    SELECT ${output.id}::uuid, account_id, hash, size_bytes, ${output.contentType}, ${output.name}, '{}'::text[], job_id,
      expires_at
    FROM ${blob}
    RETURNING id`;
}

/**
 * Let the assets of outputs that are replaced expire now; the expiry loop removes them. Locks them in the order of their ids, and not their blobs.
 *
 * @param replaced yields few rows: what had the place of the new output, and what had its name.
 */
export function retireAssetPart(replaced: StatementPart<'account_id' | 'asset_id'>): StatementPart {
  return statementPart('retired')`
    UPDATE assets a SET expires_at = now() FROM (
      SELECT a.id FROM ${replaced} r JOIN assets a ON a.account_id = r.account_id AND a.id = r.asset_id ORDER BY a.id FOR NO KEY UPDATE OF a
    ) locked WHERE a.id = locked.id
    RETURNING 1`;
}
