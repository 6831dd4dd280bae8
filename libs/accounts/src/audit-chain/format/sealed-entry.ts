/**
 * What of an entry stays when it is struck out: who, what, whom and when, and from where an operator acted. It names accounts, keys,
 * members and records by ids, operators by their names.
 */
export interface EntryFacts {
  id: string;
  at: Date;
  actor: string;
  action: string;
  subjectType: string;
  subjectId: string;
  accountId: string | null;
  /** Of operators (`addressStays`); of all others it is content. */
  operatorAddress: string | null;
}

/** What of an entry goes when it is struck out. */
export interface EntryContent {
  /** JSON, as PostgreSQL writes it: it is hashed as it is. */
  details: string;
  reason: string | null;
  /** Of who is no operator. */
  address: string | null;
}

/** An entry as it was sealed. */
export interface SealedEntry {
  facts: EntryFacts;
  content: EntryContent;
  /** Random; null once the entry was struck out. */
  salt: Buffer | null;
  contentDigest: Buffer;
  digest: Buffer;
}

/** What stands in place of details that were struck out. */
const STRUCK_OUT = '{"erased": true}';

/** Whether an entry says nothing any more but that it was struck out. */
export const isStruckOut = ({ content }: Pick<SealedEntry, 'content'>): boolean =>
  content.details === STRUCK_OUT && content.reason === null && content.address === null;

/** Whether the address of an entry stays when the entry is struck out, by who acted. PostgreSQL has the same rule: `audit_address_stays`. */
export const addressStays = (actor: string): boolean =>
  actor === 'admin' || actor.startsWith('token:') || actor.startsWith('operator:');

/** A row of the log as it is read to be verified or exported. */
export interface EntryRow extends Omit<EntryFacts, 'operatorAddress'> {
  address: string | null;
  details: string;
  reason: string | null;
  salt: Buffer | null;
  contentDigest: Buffer;
  digest: Buffer;
}

export function sealedEntryOf({
  address,
  details,
  reason,
  salt,
  contentDigest,
  digest,
  ...facts
}: EntryRow): SealedEntry {
  const stays = addressStays(facts.actor);
  return {
    facts: { ...facts, operatorAddress: stays ? address : null },
    content: { details, reason, address: stays ? null : address },
    salt,
    contentDigest,
    digest,
  };
}
