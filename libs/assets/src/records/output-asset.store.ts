import { Prisma } from '@prisma/client';
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

/** What is read of the job. */
export type MakerColumn = 'id' | 'account_id' | 'attempt' | 'expires_at';

/**
 * Keep the output's blob and make an asset over it, which expires with its job. Yields the asset's `id`; no row when this
 * life of the blob is over, or when it is not the account's. The blob may have been condemned since the statement began: an
 * UPDATE that waited for its row looks at what that has become.
 *
 * @param job yields one row at most.
 */
export function mintOutputPart(output: OutputAsset, job: StatementPart<MakerColumn>): StatementPart<'id'> {
  const blob = keptBlobPart(output, job);
  return statementPart<'id'>('made_asset')`${madeOf(output)} FROM ${blob} RETURNING id`;
}

/**
 * The same, where the job may have an output in this place: of the same content, name and content type it keeps its asset, whose id
 * is known from events and polls. Another stays as well, until its job expires: nothing is written to it.
 *
 * @param place yields the asset of the output that has the place, at most one. It is read by its id (`OFFSET 0`): there are many of one content.
 */
export function mintOrKeepOutputPart(
  output: OutputAsset,
  job: StatementPart<MakerColumn>,
  place: StatementPart<'asset_id'>,
): StatementPart<'id'> {
  const blob = keptBlobPart(output, job);
  const same = statementPart<'id'>('same_asset')`
    SELECT a.id FROM ${blob} b CROSS JOIN ${place} place CROSS JOIN LATERAL (SELECT * FROM assets WHERE id = place.asset_id OFFSET 0) a
    WHERE a.account_id = b.account_id AND a.hash = b.hash AND a.content_type = ${output.contentType} AND a.file_path = ${output.name}
      AND a.expires_at = b.expires_at`;
  const made = statementPart<'id'>('made_asset')`
    ${madeOf(output)} FROM ${blob} WHERE NOT EXISTS (SELECT FROM ${same}) RETURNING id`;
  return statementPart<'id'>('asset')`SELECT id FROM ${made} UNION ALL SELECT id FROM ${same}`;
}

type BlobColumn = 'account_id' | 'hash' | 'size_bytes' | 'job_id' | 'attempt' | 'expires_at';

function keptBlobPart(output: OutputAsset, job: StatementPart<MakerColumn>): StatementPart<BlobColumn> {
  return statementPart<BlobColumn>('blob')`
    UPDATE blobs b SET orphaned_at = NULL FROM ${job} j
    WHERE ${isThis(output.blob)} AND b.account_id = j.account_id
    RETURNING b.account_id, b.hash, b.size_bytes, j.id AS job_id, j.attempt, j.expires_at`;
}

/** The insertion of the asset, without what it reads from: the blob. */
function madeOf({ id, contentType, name }: OutputAsset): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO assets (id, account_id, hash, size_bytes, content_type, file_path, tags, job_id, attempt, expires_at)
    SELECT ${id}::uuid, account_id, hash, size_bytes, ${contentType}, ${name}, '{}'::text[], job_id, attempt, expires_at`;
}
