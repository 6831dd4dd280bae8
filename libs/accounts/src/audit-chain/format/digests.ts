import { createHash } from 'node:crypto';
import { encoded } from './encoding';
import type { EntryContent, EntryFacts } from './sealed-entry';
import type { Segment } from './segment';

/*
 * The digests of the chain, as PostgreSQL makes them where it seals (function `seal_audit_log`). They are made a second time here, so
 * that a database in which somebody replaced that function does not verify itself.
 */

/** Of what an entry says. Without the salt nobody can find out by trying what it was. */
export function contentDigestOf(salt: Buffer, { details, reason, address }: EntryContent): Buffer {
  return sha256(encoded(['millrace audit content 1', salt.toString('hex'), details, reason, address]));
}

/** Of a whole entry: of what it says by its digest alone, so that it can be struck out. */
export function entryDigestOf(facts: EntryFacts, contentDigest: Buffer): Buffer {
  const { id, at, actor, action, subjectType, subjectId, accountId, operatorAddress } = facts;
  const fields = [id, microsOf(at), actor, action, subjectType, subjectId, accountId, operatorAddress];
  return sha256(encoded(['millrace audit entry 1', ...fields, contentDigest.toString('hex')]));
}

/** Of a segment: of the one before it, and of its entries in their order. A digest has 32 bytes, so it needs no length. */
export function segmentHashOf(
  { no, previousHash, entries, sealedAt }: Pick<Segment, 'no' | 'previousHash' | 'entries' | 'sealedAt'>,
  digests: readonly Buffer[],
): Buffer {
  const fields = [previousHash.toString('hex'), String(no), String(entries), microsOf(sealedAt)];
  return sha256(Buffer.concat([encoded(['millrace audit segment 1', ...fields]), ...digests]));
}

const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

/** Microseconds since 1970; the log has times in whole milliseconds. */
const microsOf = (at: Date): string => `${at.getTime() * 1_000}`;
