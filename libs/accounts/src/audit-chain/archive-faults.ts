import type { Finding } from '@millrace/platform';
import { isSegmentOf, readSegmentFile, type FiledSegment } from './format/segment-file';
import type { SegmentArchive } from './segment-archive';
import { nameOf, nameOfEntry } from './segment-faults';
import { objectKeyOf, objectStem, type Segment } from './format/segment';
import type { LoadedSegment } from './segment.store';

/** Objects of one number that are looked at; there is one. */
const NAMES = 10;

/** An archive, and what names of its objects begin with. */
export interface ArchivePlace {
  archive: Pick<SegmentArchive, 'list' | 'read'>;
  prefix: string;
}

/**
 * What is wrong with a segment when it is held against its object. The object stays as it was written, so it shows which entries were
 * changed together with all their digests.
 */
export async function faultsOfArchived(segment: LoadedSegment, { archive, prefix }: ArchivePlace): Promise<Finding[]> {
  const found = (detail: string): Finding => ({
    check: 'archive-has-the-segment',
    subject: nameOf(segment.no),
    detail,
  });
  const own = objectKeyOf(prefix, segment);
  // Objects from before the prefix was changed stay where they are.
  const recorded = segment.objectKey ?? own;
  const key = recorded.endsWith(own.slice(prefix.length)) ? recorded : own;
  const stem = objectStem(key.slice(0, key.length - own.length + prefix.length), segment.no);
  const faults: Finding[] = [];
  const names = await archive.list(stem, NAMES);
  for (const name of names) {
    const filed = readSegmentFile((await archive.read(name)) ?? Buffer.alloc(0));
    if (name !== key) faults.push(found(`is another one in the bucket, as ${name}: ${REWRITTEN}`));
    else if (filed === null || !isSegmentOf(filed, segment.hash))
      faults.push(found(`is not what its object ${key} is`));
    if (filed !== null) faults.push(...faultsOfEntries(segment, filed));
  }
  if (segment.objectKey !== null && !names.includes(key)) {
    faults.push(found(`was exported, and the bucket has no object ${key}`));
  }
  return faults;
}

const REWRITTEN = 'the database was rewritten, or restored from a backup that is older';

/** By digests: entries that are not those of the object. */
function faultsOfEntries({ no, found }: LoadedSegment, { entries }: FiledSegment): Finding[] {
  const fault = (id: string, detail: string): Finding => ({
    check: 'archive-has-the-entry',
    subject: nameOfEntry(id, no),
    detail,
  });
  const there = new Map(found.map((entry) => [entry.facts.id, entry]));
  const filed = new Map(entries.map((entry) => [entry.facts.id, entry]));
  return [
    ...entries.flatMap(({ facts, digest, contentDigest }) => {
      const entry = there.get(facts.id);
      if (entry === undefined) return [fault(facts.id, 'is in the bucket and no more in the log')];
      const isSame = entry.digest.equals(digest) && entry.contentDigest.equals(contentDigest);
      return isSame ? [] : [fault(facts.id, 'is another one in the bucket')];
    }),
    ...found.filter(({ facts }) => !filed.has(facts.id)).map(({ facts }) => fault(facts.id, 'is not in the bucket')),
  ];
}

/** What of the archive is behind the end of the log. @param newest null: the log has no segment. */
export async function faultsOfEnd(newest: Segment | null, { archive, prefix }: ArchivePlace): Promise<Finding[]> {
  const stem = newest === null ? prefix : objectStem(prefix, newest.no + 1n);
  const [name] = await archive.list(stem, 1);
  if (name === undefined) return [];
  const detail =
    newest === null
      ? `is in the bucket, as ${name}, and the log has no segment at all: ${REWRITTEN}`
      : `is in the bucket, as ${name}, and the log ends with ${newest.no}: ${REWRITTEN}`;
  const subject = newest === null ? 'a segment' : nameOf(newest.no + 1n);
  return [{ check: 'archive-ends-with-the-log', subject, detail }];
}
