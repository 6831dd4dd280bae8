/** A part of the audit log that was sealed: its hash covers the segment before it, and its entries in the order of their ids. */
export interface Segment {
  /** From 1, without a gap. */
  no: bigint;
  /** SHA-256; zeros in the first. */
  previousHash: Buffer;
  hash: Buffer;
  entries: number;
  firstId: string;
  lastId: string;
  /** The earliest and the latest time of its entries. */
  firstAt: Date;
  lastAt: Date;
  sealedAt: Date;
}

/** What the first segment follows. */
export const NO_HASH = Buffer.alloc(32);

/** Digits of a number in a name: names are in the order of numbers. */
const DIGITS = 12;

/** What the name of the object of a segment of this number begins with, whichever segment that is. */
export const objectStem = (prefix: string, no: bigint): string => `${prefix}${String(no).padStart(DIGITS, '0')}-`;

/** The name of a segment's object. It has the hash: another segment of the same number is another object, and neither replaces the other. */
export const objectKeyOf = (prefix: string, { no, hash }: Pick<Segment, 'no' | 'hash'>): string =>
  `${objectStem(prefix, no)}${hash.toString('hex')}.ndjson`;
