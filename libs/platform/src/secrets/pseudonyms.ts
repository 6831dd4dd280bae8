import { createHmac } from 'node:crypto';
import type { KeyRing, KeyUse } from './key-ring';

/**
 * What stands for a text in the database, so that neither it nor a backup says the text, and nobody finds out by trying texts: an
 * HMAC-SHA256 with the first key of the ring. When that key is replaced, a text gets another pseudonym.
 */
export class Pseudonyms {
  private readonly secret: Buffer;

  constructor(ring: KeyRing, use: KeyUse) {
    this.secret = ring.for(use)[0].secret;
  }

  of(text: string): Buffer {
    return createHmac('sha256', this.secret).update(text).digest();
  }
}
