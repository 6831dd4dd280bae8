import type { Statements } from '@millrace/database';
import type { Auditor, Finding } from '@millrace/platform';
import { faultsOfArchived, faultsOfEnd, type ArchivePlace } from './archive-faults';
import { isStruckOut } from './format/sealed-entry';
import { faultsOfPlace, faultsOfSegment, nameOf, nameOfEntry } from './segment-faults';
import type { LoadedSegment, SegmentStore } from './segment.store';

/** Entries of segments that are not there, which are named. */
const STRAYS = 100;
/** Segments that are compared with their objects, unless all are. */
const COMPARED = 20;

/** What is compared with the log, beside itself. */
export interface ComparedArchive extends ArchivePlace {
  /** The newest segments, or all. */
  compared?: 'newest' | 'all';
}

/** What is still to be compared: segments behind one. */
interface Comparison {
  after: bigint;
  /** Null: nothing, or no more. */
  archive: ArchivePlace | null;
}

/** How much of the log was looked at. */
export interface AuditedLog {
  segments: number;
  entries: number;
  /** Of the entries: struck out by erasures. */
  'struck out': number;
  /** Segments that were compared with their objects. */
  compared: number;
}

/**
 * Proves that the audit log is what was sealed: every segment follows the one before it, and has its entries as they were, or struck out
 * by an erasure of their account; and that the archive, where there is one, has the same segments. It reads page by page, so memory stays
 * flat, and takes no locks: what is sealed, struck out and deleted meanwhile is no fault.
 */
export class AuditChainAuditor implements Auditor {
  readonly name = 'audit log';

  /** @param archive null: nothing is exported. */
  constructor(
    private readonly database: Statements,
    private readonly segments: SegmentStore,
    private readonly archive: ComparedArchive | null,
  ) {}

  /** @param seen counts what was looked at. */
  async *findings(seen: Partial<Record<string, number>> = {}): AsyncGenerator<Finding> {
    const counts: AuditedLog = Object.assign(seen, { segments: 0, entries: 0, 'struck out': 0, compared: 0 });
    const comparison = await this.comparison();
    let before: LoadedSegment | null = null;
    for (;;) {
      const page: LoadedSegment[] = await this.segments.page(this.database, before?.no ?? null);
      if (page.length === 0) break;
      for (const segment of page) {
        yield* this.place(segment, before);
        yield* faultsOfSegment(segment, segment.found);
        if (segment.no > comparison.after) {
          yield* this.compare(comparison, (archive) => faultsOfArchived(segment, archive));
          counts.compared += comparison.archive === null ? 0 : 1;
        }
        counts.segments += 1;
        counts.entries += segment.found.length;
        before = segment;
      }
      yield* this.struckOut(page, counts);
    }
    yield* this.strays(before?.no ?? null, null);
    if (!(await this.hasMore(before))) yield* this.compare(comparison, (archive) => faultsOfEnd(before, archive));
  }

  private async comparison(): Promise<Comparison> {
    const newest = (await this.segments.ends(this.database))?.newest ?? 0n;
    return { after: this.archive?.compared === 'all' ? 0n : newest - BigInt(COMPARED), archive: this.archive };
  }

  private async *place(segment: LoadedSegment, before: LoadedSegment | null): AsyncGenerator<Finding> {
    const isNext = segment.no - 1n === before?.no;
    // What stood before it may have been deleted at the end of its retention meanwhile.
    const isOldest = before === null || (!isNext && (await this.isSwept(before.no)));
    yield* faultsOfPlace(segment, isOldest ? null : before);
    if (!isNext) yield* this.strays(before?.no ?? null, segment.no);
  }

  /** Whether a segment was deleted with all before it. */
  private async isSwept(no: bigint): Promise<boolean> {
    const ends = await this.segments.ends(this.database);
    return ends !== null && ends.oldest > no;
  }

  private async hasMore(newest: LoadedSegment | null): Promise<boolean> {
    const ends = await this.segments.ends(this.database);
    return ends !== null && ends.newest > (newest?.no ?? 0n);
  }

  /** Entries that say that they are of a segment that is not there. */
  private async *strays(after: bigint | null, before: bigint | null): AsyncGenerator<Finding> {
    for (const { id, segment } of await this.segments.strays(this.database, after, before, STRAYS)) {
      yield {
        check: 'entry-has-its-segment',
        subject: nameOfEntry(id, segment),
        detail: `there is no ${nameOf(segment)}`,
      };
    }
  }

  private async *struckOut(page: readonly LoadedSegment[], counts: AuditedLog): AsyncGenerator<Finding> {
    const entries = page.flatMap(({ no, found }) => found.filter(isStruckOut).map(({ facts }) => ({ ...facts, no })));
    if (entries.length === 0) return;
    counts['struck out'] += entries.length;
    const without = await this.segments.withoutErasure(this.database, entries);
    for (const { id, no, accountId } of entries.filter((entry) => without.has(entry.id))) {
      const whose = accountId === null ? 'it is of no account' : `nobody asked for an erasure in account ${accountId}`;
      yield { check: 'struck-out-by-an-erasure', subject: nameOfEntry(id, no), detail: `was struck out, and ${whose}` };
    }
  }

  /** A bucket that does not answer hides nothing of what the database shows, and is not asked again. */
  private async *compare(
    comparison: Comparison,
    faultsOf: (archive: ArchivePlace) => Promise<Finding[]>,
  ): AsyncGenerator<Finding> {
    if (comparison.archive === null) return;
    try {
      yield* await faultsOf(comparison.archive);
    } catch (error) {
      comparison.archive = null;
      const detail = error instanceof Error ? error.message : String(error);
      yield { check: 'archive-can-be-read', subject: 'the bucket of the audit log', detail };
    }
  }
}
