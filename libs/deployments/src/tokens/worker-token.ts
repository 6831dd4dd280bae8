import { createHash, randomBytes } from 'node:crypto';

const PREFIX = 'mrw_';
const RANDOM_BYTES = 32;
const FORM = /^mrw_[A-Za-z0-9_-]{43}$/;

/** A token with which workers outside the cluster join a pool, as it is kept: without the token itself. */
export interface WorkerTokenRecord {
  id: string;
  poolId: string;
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** What a worker that shows a valid token may act for. */
export interface WorkerTokenHolder {
  tokenId: string;
  poolId: string;
}

/** A new token: `mrw_` and 256 random bits. Only the hash is stored: a guess is hopeless, so that it needs no salt and no stretching. */
export function makeWorkerToken(): { token: string; hash: Buffer } {
  const token = PREFIX + randomBytes(RANDOM_BYTES).toString('base64url');
  return { token, hash: hashOf(token) };
}

/** @returns the hash by which a token is found; null for a text that can be none. */
export function workerTokenHash(text: string): Buffer | null {
  return FORM.test(text) ? hashOf(text) : null;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
