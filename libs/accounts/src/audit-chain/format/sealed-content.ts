import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { EntryContent } from './sealed-entry';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * What an entry says, so that only who has its salt can read it: the objects of a bucket that deletes nothing keep it after the salt
 * is gone, and nobody can read it any more. A salt is of one entry and encrypts one text, so the nonce may follow from it: the same
 * entry is always the same bytes.
 *
 * @returns base64.
 */
export function sealContent(salt: Buffer, entryId: string, { details, reason, address }: EntryContent): string {
  const { key, nonce } = keyOf(salt);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(entryId));
  const text = JSON.stringify({ details, reason, address });
  return Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

/** Read what `sealContent` wrote. @returns null when it was written under another salt, or of another entry. */
export function openContent(salt: Buffer, entryId: string, sealed: string): EntryContent | null {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.length < TAG_BYTES) return null;
  const { key, nonce } = keyOf(salt);
  const decipher = createDecipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(entryId));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8');
    return JSON.parse(text) as EntryContent;
  } catch {
    return null;
  }
}

function keyOf(salt: Buffer): { key: Buffer; nonce: Buffer } {
  const bytes = Buffer.from(hkdfSync('sha256', salt, '', 'millrace audit content', KEY_BYTES + NONCE_BYTES));
  return { key: bytes.subarray(0, KEY_BYTES), nonce: bytes.subarray(KEY_BYTES) };
}
