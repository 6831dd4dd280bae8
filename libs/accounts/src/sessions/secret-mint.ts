import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { KeyRing, KeyUse } from '@millrace/platform';

const RANDOM_BYTES = 32;
const TAG_BYTES = 16;
/** 48 bytes in base64url: no character is left over, so that a secret has one spelling. */
const FORM = /^[A-Za-z0-9_-]{64}$/;

/**
 * Makes secrets, and recognises those that it made: each is 256 random bits and 128 bits of an HMAC-SHA256 over them. So what
 * someone made up is refused without a lookup.
 */
export class SecretMint {
  private readonly keys: readonly Buffer[];

  /** @param ring the first key tags; secrets with a tag of any are recognised. */
  constructor(ring: KeyRing, use: KeyUse) {
    this.keys = ring.for(use).map(({ secret }) => secret);
  }

  make(): string {
    const random = randomBytes(RANDOM_BYTES);
    return Buffer.concat([random, tag(this.keys[0] as Buffer, random)]).toString('base64url');
  }

  /** True when the secret was made with a key of this ring, whether or not it still counts. */
  made(text: string): boolean {
    if (!FORM.test(text)) return false;
    const bytes = Buffer.from(text, 'base64url');
    const random = bytes.subarray(0, RANDOM_BYTES);
    return this.keys.some((key) => timingSafeEqual(bytes.subarray(RANDOM_BYTES), tag(key, random)));
  }
}

function tag(key: Buffer, random: Buffer): Buffer {
  return createHmac('sha256', key).update(random).digest().subarray(0, TAG_BYTES);
}
