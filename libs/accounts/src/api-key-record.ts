import type { JobMetadata, Scope } from '@millrace/contracts';

/** A key as it is stored, without its hash. */
export interface ApiKeyRecord {
  id: string;
  accountId: string;
  name: string;
  lastFour: string;
  scopes: Scope[];
  /** Of a sub-key, at least one: its jobs carry them, and it sees no others. Null for a key that is none. */
  labels: JobMetadata | null;
  createdAt: Date;
  expiresAt: Date | null;
  /** From then on it is refused; in the future during the overlap of a rotation. */
  revokedAt: Date | null;
  /** Up to a minute late: uses are recorded in batches. */
  lastUsedAt: Date | null;
  /** The key that replaced it. */
  rotatedTo: string | null;
  /** The key that made it, and with which it ends; null for a key made by an operator. */
  parentId: string | null;
  /** Networks from which it may be used, beside what its account says; empty: from anywhere. */
  allowedAddresses: string[];
  /** The member whose key it is, and with whom it ends; null for a key of the account itself. */
  memberId: string | null;
  /** The sessions of its member act as it. Nobody sees it. */
  isSessionKey: boolean;
  /** It expires at the maximum age of its account. */
  expiresByAge: boolean;
  /** The keys by whose caps its jobs count: the one as which it does, itself or the first that it replaced, then those for which it does, too. */
  spendKeys: string[];
  /** When it would expire without that; null where that would be never, or `expiresByAge` is false. */
  askedExpiresAt: Date | null;
}

export const API_KEY_STATES = ['live', 'expired', 'revoked'] as const;
export type ApiKeyState = (typeof API_KEY_STATES)[number];

/** Whether a key works at a time, and why not. */
export function apiKeyState({ expiresAt, revokedAt }: ApiKeyRecord, at: Date): ApiKeyState {
  if (revokedAt !== null && revokedAt <= at) return 'revoked';
  return expiresAt !== null && expiresAt <= at ? 'expired' : 'live';
}
