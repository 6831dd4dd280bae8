import type { Statements } from '@millrace/database';
import { crashPoint, type Loop, type LoopReport } from '@millrace/platform';
import { isSegmentOf, readSegmentFile, segmentFile } from './format/segment-file';
import type { SegmentArchive } from './segment-archive';
import { faultsOfSegment } from './segment-faults';
import { objectKeyOf, type Segment } from './format/segment';
import type { SegmentStore } from './segment.store';

/** Segments of a run at most. */
const BATCH = 20;

/**
 * Writes sealed segments to the archive, the oldest first, each once. Where the process ends between the object and the note of it, the
 * next one finds the object, and notes it. What is in the database no more as it was sealed is not written: `resting` counts it, and the
 * audit says what it is.
 */
export class ExportAuditLogLoop implements Loop {
  readonly name = 'export-audit-log';
  readonly everyMs = 10_000;

  /** @param prefix what names of objects begin with. */
  constructor(
    private readonly database: Statements,
    private readonly segments: Pick<SegmentStore, 'unexported' | 'entriesToExport' | 'recordExport'>,
    private readonly archive: Pick<SegmentArchive, 'read' | 'write'>,
    private readonly prefix: string,
  ) {}

  /** @throws a sentence for the operator when the archive does not take a segment. */
  async runOnce(report?: LoopReport): Promise<number> {
    let exported = 0;
    let unsound = 0;
    for (const segment of await this.segments.unexported(this.database, BATCH)) {
      const entries = await this.segments.entriesToExport(this.database, segment.no);
      const [fault] = faultsOfSegment(segment, entries);
      if (fault === undefined) {
        await this.export(segment, segmentFile(segment, entries));
        exported += 1;
      } else {
        unsound += 1;
        report?.failed(
          fault.subject,
          new Error(`${fault.subject} ${fault.detail}; npm run audit shows all that is wrong`),
        );
      }
    }
    report?.resting(unsound);
    return exported;
  }

  private async export(segment: Segment, bytes: Buffer): Promise<void> {
    const name = objectKeyOf(this.prefix, segment);
    // A locked object is not written again, not even with the same bytes.
    const there = await this.archive.read(name);
    if (there === null) {
      await this.archive.write({ name, contentType: 'application/x-ndjson', bytes });
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
