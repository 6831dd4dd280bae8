import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The digits of keys. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Of a checksum, and of a tag: they hold 32 bits. */
export const CHECK_DIGITS = 6;
const KEY = /^mr_[a-z]{1,10}_[0-9A-Za-z]{36}$/;

/** True when the text has a key's form and its checksum fits, whether or not the key exists. */
export function isWellFormedApiKey(text: string): boolean {
  return KEY.test(text) && withChecksum(text.slice(0, -CHECK_DIGITS)) === text;
}

/** SHA-256 of the key, which its row has. A key has at least 142 random bits, so nothing slower is needed; an index compares equal hashes. */
export function hashApiKey(key: string): Buffer {
  return Buffer.from(keyHashText(key), 'base64');
}

/** The same in base64. In one call, as a text: every request needs it, and a hash object would cost five times as much. */
export function keyHashText(key: string): string {
  return hash('sha256', key, 'base64');
}

/** A key from all before its checksum: the CRC-32 of that in 6 digits. */
export function withChecksum(body: string): string {
  return body + checkDigits(crc32(body));
}

/** 32 bits in 6 base62 digits. */
export function checkDigits(bits: number): string {
  let rest = bits;
  let digits = '';
  for (let i = 0; i < CHECK_DIGITS; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
