import { z } from 'zod';
import { entryDigestOf, segmentHashOf } from './digests';
import { sealContent } from './sealed-content';
import type { EntryFacts, SealedEntry } from './sealed-entry';
import type { Segment } from './segment';

/*
 * The object of a segment: NDJSON, the segment in the first line, then a line for each entry. It can be verified by itself.
 */

const FORMAT = 'millrace-audit-segment-1';
const hash = z
  .string()
  .regex(/^[\da-f]{64}$/)
  .transform((hex) => Buffer.from(hex, 'hex'));
const time = z.iso.datetime().transform((text) => new Date(text));

const HeadSchema = z
  .strictObject({
    format: z.literal(FORMAT),
    no: z.string().regex(/^\d+$/).transform(BigInt),
    previous_hash: hash,
    hash,
    entries: z.int(),
    first_id: z.string(),
    last_id: z.string(),
    first_at: time,
    last_at: time,
    sealed_at: time,
  })
  .transform((head): Segment => ({
    no: head.no,
    previousHash: head.previous_hash,
    hash: head.hash,
    entries: head.entries,
    firstId: head.first_id,
    lastId: head.last_id,
    firstAt: head.first_at,
    lastAt: head.last_at,
    sealedAt: head.sealed_at,
  }));

const EntrySchema = z
  .strictObject({
    id: z.string(),
    at: time,
    actor: z.string(),
    action: z.string(),
    subject_type: z.string(),
    subject_id: z.string(),
    account_id: z.string().nullable(),
    operator_address: z.string().nullable(),
    content: z.string().nullable(),
    content_digest: hash,
    digest: hash,
  })
  .transform((line): FiledEntry => ({
    facts: {
      id: line.id,
      at: line.at,
      actor: line.actor,
      action: line.action,
      subjectType: line.subject_type,
      subjectId: line.subject_id,
      accountId: line.account_id,
      operatorAddress: line.operator_address,
    },
    content: line.content,
    contentDigest: line.content_digest,
    digest: line.digest,
  }));

/** An entry as its object has it. */
export interface FiledEntry extends Pick<SealedEntry, 'contentDigest' | 'digest'> {
  facts: EntryFacts;
  /** What it says, under a key that follows from its salt; null where it was struck out before. */
  content: string | null;
}

/** A segment as its object has it. */
export interface FiledSegment {
  segment: Segment;
  entries: FiledEntry[];
}

/** The bytes of a segment's object: of the same segment always the same, until one of its entries is struck out. */
export function segmentFile(segment: Segment, entries: readonly SealedEntry[]): Buffer {
  const head = {
    format: FORMAT,
    no: String(segment.no),
    previous_hash: segment.previousHash.toString('hex'),
    hash: segment.hash.toString('hex'),
    entries: segment.entries,
    first_id: segment.firstId,
    last_id: segment.lastId,
    first_at: segment.firstAt,
    last_at: segment.lastAt,
    sealed_at: segment.sealedAt,
  };
  return Buffer.from([head, ...entries.map(lineOf)].map((line) => `${JSON.stringify(line)}\n`).join(''));
}

function lineOf({ facts, content, salt, contentDigest, digest }: SealedEntry): object {
  return {
    id: facts.id,
    at: facts.at,
    actor: facts.actor,
    action: facts.action,
    subject_type: facts.subjectType,
    subject_id: facts.subjectId,
    account_id: facts.accountId,
    operator_address: facts.operatorAddress,
    content: salt === null ? null : sealContent(salt, facts.id, content),
    content_digest: contentDigest.toString('hex'),
    digest: digest.toString('hex'),
  };
}

/** Read an object. @returns null when it is none of a segment. */
export function readSegmentFile(bytes: Buffer): FiledSegment | null {
  try {
    const [head, ...lines] = bytes
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
    return { segment: HeadSchema.parse(head), entries: lines.map((line) => EntrySchema.parse(line)) };
  } catch {
    return null;
  }
}

/** Whether an object is the segment of this hash: what its lines say adds up to it, and the digests are theirs. */
export function isSegmentOf({ segment, entries }: FiledSegment, hashOfSegment: Buffer): boolean {
  const digests = entries.map(({ facts, contentDigest }) => entryDigestOf(facts, contentDigest));
  const isWhole = entries.length === segment.entries && segmentHashOf(segment, digests).equals(hashOfSegment);
  return isWhole && entries.every(({ digest }, index) => digests[index]?.equals(digest));
}
