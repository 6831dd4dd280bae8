import type { Statements } from '@millrace/database';
import { crashPoint, ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import { isSegmentOf, readSegmentFile, segmentFile } from './format/segment-file';
import type { SegmentArchive } from './segment-archive';
import { faultsOfSegment } from './segment-faults';
import { objectKeyOf, type Segment } from './format/segment';
import type { SegmentStore } from './segment.store';

/** Segments of a page. */
const BATCH = 20;
/** An object of somebody else that was taken away is replaced within minutes. */
const REST = { firstMs: 10_000, longestMs: 5 * 60_000 };

/** The archive did not answer, or takes nothing: what fails with one segment fails with all. */
class ArchiveFailed extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** @throws ArchiveFailed */
async function ofArchive<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new ArchiveFailed(error);
  }
}

/**
 * Writes sealed segments to the archive, the oldest first, each once. Where the process ends between the object and the note of it, the
 * next one finds the object, and notes it. What is in the database no more as it was sealed is not written: it rests as an item that fails,
 * keeps no other back, and the audit says what it is.
 */
export class ExportAuditLogLoop implements Loop {
  readonly name = 'export-audit-log';
  readonly everyMs = 10_000;
  private readonly sweep: ItemSweep<Segment>;

  /** @param prefix what names of objects begin with. */
  constructor(
    private readonly database: Statements,
    private readonly segments: Pick<SegmentStore, 'unexported' | 'entriesToExport' | 'recordExport'>,
    private readonly archive: Pick<SegmentArchive, 'read' | 'write'>,
    private readonly prefix: string,
  ) {
    this.sweep = new ItemSweep<Segment>({
      limit: BATCH,
      page: (after, limit) => segments.unexported(database, after === null ? null : BigInt(after), limit),
      keyOf: ({ no }) => String(no),
      rest: REST,
      work: (segment) => this.export(segment),
      isOutage: (error) => error instanceof ArchiveFailed,
    });
  }

  /** @throws a sentence for the operator when the archive does not take a segment, or no segment that was tried could be written. */
  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  private async export(segment: Segment): Promise<true> {
    const entries = await this.segments.entriesToExport(this.database, segment.no);
    const [fault] = faultsOfSegment(segment, entries);
    if (fault !== undefined) {
      throw new Error(`${fault.subject} ${fault.detail}; npm run audit shows all that is wrong`);
    }
    await this.write(segment, segmentFile(segment, entries));
    return true;
  }

  private async write(segment: Segment, bytes: Buffer): Promise<void> {
    const name = objectKeyOf(this.prefix, segment);
    // A locked object is not written again, not even with the same bytes.
    const there = await ofArchive(this.archive.read(name));
    if (there === null) {
      await ofArchive(this.archive.write({ name, contentType: 'application/x-ndjson', bytes }));
    } else {
      const filed = readSegmentFile(there);
      if (filed === null || !isSegmentOf(filed, segment.hash)) {
        throw new Error(
          `The object ${name} is in the bucket and is not segment ${segment.no}: somebody else wrote it.`,
        );
      }
    }
    crashPoint('archive:after-object');
    await this.segments.recordExport(this.database, segment.no, name);
  }
}
