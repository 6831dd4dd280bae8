import type { Finding } from '@millrace/platform';
import { contentDigestOf, entryDigestOf, segmentHashOf } from './format/digests';
import { isStruckOut, type SealedEntry } from './format/sealed-entry';
import { NO_HASH, type Segment } from './format/segment';

export const nameOf = (no: bigint): string => `segment ${no}`;
export const nameOfEntry = (id: string, no: bigint): string => `entry ${id} of segment ${no}`;

/** What is wrong with a segment and its entries, taken by themselves. */
export function faultsOfSegment(segment: Segment, entries: readonly SealedEntry[]): Finding[] {
  return [...entries.flatMap((entry) => faultsOfEntry(segment.no, entry)), ...faultsOfWhole(segment, entries)];
}

function faultsOfEntry(no: bigint, entry: SealedEntry): Finding[] {
  const { facts, content, salt, contentDigest, digest } = entry;
  const found = (detail: string): Finding => ({
    check: 'entry-is-as-it-was-sealed',
    subject: nameOfEntry(facts.id, no),
    detail,
  });
  const faults: Finding[] = [];
  if (!entryDigestOf(facts, contentDigest).equals(digest)) {
    faults.push(found('is not what was sealed: who did what, to whom, when, or from where, was changed'));
  }
  if (salt === null) {
    if (!isStruckOut(entry)) faults.push(found('lost the salt of its digest, and was not struck out'));
  } else if (!contentDigestOf(salt, content).equals(contentDigest)) {
    faults.push(found('is not what was sealed: its details, reason or address were changed, or its salt'));
  }
  return faults;
}

function faultsOfWhole(segment: Segment, entries: readonly SealedEntry[]): Finding[] {
  const found = (detail: string): Finding => ({
    check: 'segment-is-as-it-was-sealed',
    subject: nameOf(segment.no),
    detail,
  });
  if (entries.length !== segment.entries) {
    const there = entries.length > segment.entries ? `more than ${segment.entries}` : String(entries.length);
    return [found(`has ${there} entries, and was sealed with ${segment.entries}`)];
  }
  const digests = entries.map(({ digest }) => digest);
  if (!segmentHashOf(segment, digests).equals(segment.hash)) {
    return [found('does not have the hash of its entries: one of them, or the record of the segment, was changed')];
  }
  const times = entries.map(({ facts }) => facts.at.getTime());
  const ends = [entries[0]?.facts.id, entries.at(-1)?.facts.id, Math.min(...times), Math.max(...times)];
  const recorded = [segment.firstId, segment.lastId, segment.firstAt.getTime(), segment.lastAt.getTime()];
  if (ends.some((end, index) => end !== recorded[index])) {
    return [found('does not begin and end with the entries that its record names')];
  }
  return [];
}

/** What is wrong with the place of a segment in the chain. @param before the segment that is there before it; null: none is. */
export function faultsOfPlace(segment: Segment, before: Segment | null): Finding[] {
  const found = (subject: string, detail: string): Finding => ({
    check: 'segments-follow-each-other',
    subject,
    detail,
  });
  if (before === null) {
    // The oldest that is kept follows one that was deleted at the end of its retention.
    if (segment.no > 1n || segment.previousHash.equals(NO_HASH)) return [];
    return [found(nameOf(segment.no), 'is the first, and follows another')];
  }
  const missing = segment.no - before.no - 1n;
  if (missing > 0n) {
    const which = missing === 1n ? nameOf(before.no + 1n) : `segments ${before.no + 1n} to ${segment.no - 1n}`;
    return [found(which, `${missing === 1n ? 'is' : 'are'} not there, between ${before.no} and ${segment.no}`)];
  }
  if (segment.previousHash.equals(before.hash)) return [];
  return [found(nameOf(segment.no), `was sealed after another segment ${before.no} than the one that is there`)];
}
