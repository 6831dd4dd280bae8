import type { Scope } from '@millrace/contracts';

/** A key as it is kept: never the key itself, nor its hash. */
export interface ApiKeyRecord {
  id: string;
  accountId: string;
  name: string;
  lastFour: string;
  scopes: Scope[];
  createdAt: Date;
  expiresAt: Date | null;
  /** From when on it is refused; ahead of now during the overlap of a rotation. */
  revokedAt: Date | null;
  /** Up to a minute late: uses are written down in batches. */
  lastUsedAt: Date | null;
  /** The key that replaced it. */
  rotatedTo: string | null;
}

export const API_KEY_STATES = ['live', 'expired', 'revoked'] as const;
export type ApiKeyState = (typeof API_KEY_STATES)[number];

/** Whether a key works at a time, and why not. */
export function apiKeyState({ expiresAt, revokedAt }: ApiKeyRecord, at: Date): ApiKeyState {
  if (revokedAt !== null && revokedAt <= at) return 'revoked';
  return expiresAt !== null && expiresAt <= at ? 'expired' : 'live';
}
