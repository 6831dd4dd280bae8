import type { Statements } from '@millrace/database';
import type { Auditor, Finding } from '@millrace/platform';
import { faultsOfArchived, faultsOfEnd, type ArchivePlace } from './archive-faults';
import { isStruckOut } from './sealed-entry';
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
    const compared = await this.comparison();
    let before: LoadedSegment | null = null;
    let wasSwept = true;
    for (;;) {
      const page: LoadedSegment[] = await this.segments.page(this.database, before?.no ?? null);
      if (page.length === 0) break;
      for (const segment of page) {
        // What stood before it was deleted at the end of its retention meanwhile.
        if (before !== null && segment.no > before.no + 1n) wasSwept = await this.isSwept(before.no);
        else wasSwept = before === null;
        yield* faultsOfPlace(segment, wasSwept ? null : before);
        if (segment.no - 1n !== before?.no) yield* this.strays(before?.no ?? null, segment.no);
        yield* faultsOfSegment(segment, segment.found);
        if (compared !== null && segment.no > compared.after) {
          yield* this.compare(() => faultsOfArchived(segment, compared.archive));
          counts.compared += 1;
        }
        counts.segments += 1;
        counts.entries += segment.found.length;
        before = segment;
      }
      yield* this.struckOut(page, counts);
    }
    yield* this.strays(before?.no ?? null, null);
    if (compared !== null && !(await this.hasMore(before)))
      yield* this.compare(() => faultsOfEnd(before, compared.archive));
  }

  private async comparison(): Promise<{ after: bigint; archive: ArchivePlace } | null> {
    if (this.archive === null) return null;
    const newest = (await this.segments.ends(this.database))?.newest ?? 0n;
    return { after: this.archive.compared === 'all' ? 0n : newest - BigInt(COMPARED), archive: this.archive };
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

  /** A bucket that does not answer hides nothing of what the database shows. */
  private async *compare(faults: () => Promise<Finding[]>): AsyncGenerator<Finding> {
    try {
      yield* await faults();
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      yield { check: 'archive-can-be-read', subject: 'the bucket of the audit log', detail };
    }
  }
}
