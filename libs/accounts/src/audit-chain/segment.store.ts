import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { sealedEntryOf, type EntryRow, type SealedEntry } from './format/sealed-entry';
import type { Segment } from './format/segment';

/** Entries of a segment at most, and so of an object, and of what is in memory. */
const SEGMENT_ENTRIES = 1_000;
/** Segments of a page at most; their entries are about as many as one segment may have. */
const SEGMENTS_OF_PAGE = 200;
/** Longer than an erasure takes. */
const ERASURE_DAYS = 7;

/** A segment with where it was exported. */
export interface RecordedSegment extends Segment {
  objectKey: string | null;
}

/** A segment with the entries that the log has of it, one more at most than it should have, in the order of their ids. */
export interface LoadedSegment extends RecordedSegment {
  found: SealedEntry[];
}

const SEGMENT = Prisma.sql`s.no, s.previous_hash, s.hash, s.entries, s.first_id, s.last_id, s.first_at, s.last_at, s.sealed_at, s.object_key`;

/** The SQL of the segments of the audit log. Sealing, and reading what is exported, is done by functions of the owner. */
export class SegmentStore {
  /** Seal what waits. @returns the segment; null while nothing has waited for so long, and there are too few to fill one. */
  async seal(tx: Statements, waitSeconds: number, most = SEGMENT_ENTRIES): Promise<bigint | null> {
    const [row] = await tx.rows<{ no: bigint | null }>(
      Prisma.sql`SELECT seal_audit_log(${most}::int, ${waitSeconds}::int) AS no`,
    );
    return row?.no ?? null;
  }

  async find(tx: Statements, no: bigint): Promise<RecordedSegment | null> {
    const [row] = await tx.rows<RecordedSegment>(
      Prisma.sql`SELECT ${SEGMENT} FROM audit_segments s WHERE s.no = ${no}`,
    );
    return row ?? null;
  }

  /** The lowest and the highest number; null where nothing is sealed. */
  async ends(tx: Statements): Promise<{ oldest: bigint; newest: bigint } | null> {
    const [row] = await tx.rows<{ oldest: bigint | null; newest: bigint | null }>(Prisma.sql`
      SELECT min(no) AS oldest, max(no) AS newest FROM audit_segments`);
    if (row === undefined || row.oldest === null || row.newest === null) return null;
    return { oldest: row.oldest, newest: row.newest };
  }

  /** The oldest segments that are not in the archive yet. */
  async unexported(tx: Statements, after: bigint | null, limit: number): Promise<Segment[]> {
    return tx.rows<Segment>(Prisma.sql`
      SELECT ${SEGMENT} FROM audit_segments s
      WHERE s.exported_at IS NULL AND (s.no > ${after}::bigint) IS NOT FALSE ORDER BY s.no LIMIT ${limit}`);
  }

  /** The entries of a segment that is not in the archive yet; of another one none. */
  async entriesToExport(tx: Statements, no: bigint): Promise<SealedEntry[]> {
    const rows = await tx.rows<EntryRow>(Prisma.sql`SELECT * FROM read_audit_segment(${no})`);
    return rows.map(sealedEntryOf);
  }

  /** Note that a segment is in the archive. @returns false when that was noted before. */
  async recordExport(tx: Statements, no: bigint, objectKey: string): Promise<boolean> {
    const noted = await tx.execute(Prisma.sql`
      UPDATE audit_segments SET exported_at = now(), object_key = ${objectKey} WHERE no = ${no} AND exported_at IS NULL`);
    return noted > 0;
  }

  /** How long the oldest has waited, in seconds: an entry to be sealed, a segment to be exported. 0: none waits. */
  async waiting(tx: Statements): Promise<{ sealSeconds: number; exportSeconds: number }> {
    const [row] = await tx.rows<{ sealSeconds: number; exportSeconds: number }>(Prisma.sql`
      SELECT coalesce(extract(epoch FROM now() - e.at), 0)::float8 AS seal_seconds,
             coalesce(extract(epoch FROM now() - s.sealed_at), 0)::float8 AS export_seconds
      FROM (SELECT 1) one
      LEFT JOIN (SELECT at FROM audit_log WHERE segment IS NULL ORDER BY segment, id LIMIT 1) e ON true
      LEFT JOIN (SELECT sealed_at FROM audit_segments WHERE exported_at IS NULL ORDER BY no LIMIT 1) s ON true`);
    return row ?? { sealSeconds: 0, exportSeconds: 0 };
  }

  /**
   * The segments behind one, the oldest first, with their entries as they are at one moment: while it is read, entries are sealed, struck
   * out and deleted.
   *
   * @param after null: from the oldest.
   */
  async page(tx: Statements, after: bigint | null): Promise<LoadedSegment[]> {
    const rows = await tx.rows<RecordedSegment & Partial<EntryRow>>(Prisma.sql`
      WITH next AS (
        SELECT s.*, sum(s.entries) OVER (ORDER BY s.no) AS sum
        FROM audit_segments s WHERE s.no > ${after ?? 0n} ORDER BY s.no LIMIT ${SEGMENTS_OF_PAGE}
      )
      SELECT ${SEGMENT}, e.*
      FROM next s LEFT JOIN LATERAL (
        SELECT id, at, actor, action, subject_type, subject_id, account_id, address, details::text AS details, reason,
               salt, content_digest, digest
        FROM audit_log WHERE segment = s.no ORDER BY segment, id LIMIT s.entries + 1
      ) e ON true
      WHERE s.sum - s.entries < ${SEGMENT_ENTRIES}
      ORDER BY s.no, e.id`);
    return segmentsOf(rows);
  }

  /** Entries of segments between two numbers, both excluded, that are not there; null: without an end. */
  async strays(
    tx: Statements,
    after: bigint | null,
    before: bigint | null,
    limit: number,
  ): Promise<{ id: string; segment: bigint }[]> {
    return tx.rows(Prisma.sql`
      SELECT e.id, e.segment FROM audit_log e
      WHERE e.segment > ${after ?? -(2n ** 63n)} AND e.segment < ${before ?? 2n ** 63n - 1n}
        AND NOT EXISTS (SELECT FROM audit_segments s WHERE s.no = e.segment)
      ORDER BY e.segment, e.id LIMIT ${limit}`);
  }

  /**
   * Which of these entries were struck out though nobody asked for an erasure in their account. The entry that says who asked may itself be
   * past its retention when what it had struck out is not yet: so much is taken from the record of the erasure, and of the first days of the
   * log alone, because that record is not sealed.
   */
  async withoutErasure(
    tx: Statements,
    struckOut: readonly { id: string; accountId: string | null; at: Date }[],
  ): Promise<Set<string>> {
    const rows = await tx.rows<{ id: string }>(Prisma.sql`
      SELECT g.id
      FROM unnest(${struckOut.map(({ id }) => id)}::uuid[], ${struckOut.map(({ accountId }) => accountId)}::uuid[],
        ${struckOut.map(({ at }) => at)}::timestamptz[]) AS g (id, account_id, at)
      WHERE NOT EXISTS (SELECT FROM audit_log e WHERE e.account_id = g.account_id AND e.action IN ('erasure.request', 'erasure.reapply'))
        AND NOT EXISTS (
          SELECT FROM erasures r, (SELECT first_at FROM audit_segments ORDER BY no LIMIT 1) oldest
          WHERE r.account_id = g.account_id AND r.requested_at < oldest.first_at
            AND g.at < oldest.first_at + make_interval(days => ${ERASURE_DAYS}))`);
    return new Set(rows.map(({ id }) => id));
  }

  /** The salts that are still there of these entries. */
  async salts(tx: Statements, ids: readonly string[]): Promise<Map<string, Buffer>> {
    const rows = await tx.rows<{ id: string; salt: Buffer }>(Prisma.sql`
      SELECT id, salt FROM audit_log WHERE id = ANY(${[...ids]}::uuid[]) AND salt IS NOT NULL`);
    return new Map(rows.map(({ id, salt }) => [id, salt]));
  }
}

function segmentsOf(rows: readonly (RecordedSegment & Partial<EntryRow>)[]): LoadedSegment[] {
  const segments: LoadedSegment[] = [];
  for (const row of rows) {
    const { no, previousHash, hash, entries, firstId, lastId, firstAt, lastAt, sealedAt, objectKey, ...entry } = row;
    let segment = segments.at(-1);
    if (segment?.no !== no) {
      segment = { no, previousHash, hash, entries, firstId, lastId, firstAt, lastAt, sealedAt, objectKey, found: [] };
      segments.push(segment);
    }
    if (entry.id !== undefined && entry.id !== null) segment.found.push(sealedEntryOf(entry as EntryRow));
  }
  return segments;
}
