import { createHash } from 'node:crypto';

/** The SHA-256 of the token of a mailed link: what is stored of it. */
export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
