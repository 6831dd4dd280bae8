import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const KEY = /^mr_([a-z]{1,10})_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

/** A new key. Only `hash` and `lastFour` are stored. */
export interface NewApiKey {
  key: string;
  hash: Buffer;
  lastFour: string;
}

/**
 * Make a key: `mr_<environment>_`, 30 random base62 digits (178 bits), and a CRC-32 of all before it in 6 more. By the
 * checksum a mistyped key is refused without a lookup, and scanners for leaked keys recognise real ones.
 */
export function generateApiKey(environment: string): NewApiKey {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join('');
  const body = `mr_${environment}_${random}`;
  const key = body + checksum(body);
  return { key, hash: hashApiKey(key), lastFour: key.slice(-4) };
}

/** True when the text has a key's form and its checksum fits, whether or not the key exists. */
export function isWellFormedApiKey(text: string): boolean {
  const match = KEY.exec(text);
  return match !== null && checksum(text.slice(0, -CHECKSUM_LENGTH)) === match[3];
}

/** SHA-256 of the key. A key has 178 random bits, so nothing slower is needed; equal hashes are compared by an index. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
