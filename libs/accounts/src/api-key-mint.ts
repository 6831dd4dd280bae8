import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '@millrace/platform';
import { BASE62, CHECK_DIGITS, checkDigits, hashApiKey, withChecksum } from './api-key';

const RANDOM_DIGITS = 24;

/** A new key. Only `hash` and `lastFour` are stored. */
export interface NewApiKey {
  key: string;
  hash: Buffer;
  lastFour: string;
}

/**
 * Makes API keys, and recognises those that it made: each has a tag that nobody else can compute, so a key that someone made
 * up is distinguished without a lookup (decision 22).
 */
export class ApiKeyMint {
  private readonly secrets: readonly Buffer[];

  /** @param ring the first key tags; keys with a tag of any are recognised. */
  constructor(ring: KeyRing) {
    this.secrets = ring.for('API keys').map(({ secret }) => secret);
  }

  /**
   * Make a key: `mr_<environment>_`, 24 random base62 digits (142 bits), 32 bits of an HMAC-SHA256 over all before in 6 digits, and
   * a CRC-32 of all before in 6 more. By the checksum a mistyped key is refused, and scanners for leaked keys recognise
   * real ones.
   */
  make(environment: string): NewApiKey {
    const random = Array.from({ length: RANDOM_DIGITS }, () => BASE62[randomInt(BASE62.length)]).join('');
    const body = `mr_${environment}_${random}`;
    const key = withChecksum(body + tag(this.secrets[0] as Buffer, body));
    return { key, hash: hashApiKey(key), lastFour: key.slice(-4) };
  }

  /**
   * True when the key was made with a secret of this ring, whether or not it still works. False says nothing: keys made before
   * there were tags, or with a secret that has left the ring, have none that fits.
   */
  made(key: string): boolean {
    const body = key.slice(0, -2 * CHECK_DIGITS);
    const given = Buffer.from(key.slice(-2 * CHECK_DIGITS, -CHECK_DIGITS));
    return this.secrets.some((secret) => {
      const expected = Buffer.from(tag(secret, body));
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  }
}

function tag(secret: Buffer, body: string): string {
  return checkDigits(createHmac('sha256', secret).update(body).digest().readUInt32BE());
}
