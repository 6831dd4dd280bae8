import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { KeyRing, KeyUse, UseKey } from './key-ring';

const IV_BYTES = 12;
const TAG_BYTES = 16;
/** What is sealed begins with the version of its form, and the id of its key between dots. */
const VERSION = 'mr2.';
const HEAD = /^mr2\.([A-Za-z0-9_-]{1,32})\./;
const LONGEST_HEAD = 64;

/**
 * Seals texts with AES-256-GCM (NIST SP 800-38D), bound to what they belong to: a text that is moved to another place does not
 * open there. The first key of the ring seals, all open.
 */
export class Sealer {
  private readonly keys: [UseKey, ...UseKey[]];

  constructor(
    private readonly ring: KeyRing,
    private readonly use: KeyUse,
  ) {
    this.keys = ring.for(use);
  }

  /** How everything begins that is sealed now. What begins otherwise was sealed with another key, or in another form. */
  get head(): Buffer {
    return Buffer.from(`${VERSION}${this.keys[0].id}.`);
  }

  /** @param place what the text belongs to, e.g. its account and its job. */
  seal(text: string, place: readonly string[]): Buffer {
    const [{ secret }] = this.keys;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', secret, iv).setAAD(this.boundTo(place));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([this.head, iv, cipher.getAuthTag(), body]);
  }

  /**
   * @param before what the form before this one was bound to; values of that form begin with their IV.
   * @throws when it was altered, was sealed for another place, or its key is no longer in the ring.
   */
  open(sealed: Buffer, place: readonly string[], before: string): string {
    const [head, id] = HEAD.exec(sealed.subarray(0, LONGEST_HEAD).toString('latin1')) ?? [];
    if (head === undefined) return this.openUnversioned(sealed, before);
    const key = this.keys.find((known) => known.id === id);
    if (key === undefined) throw new Error(`the key ${id} is not in the ring`);
    return openWith(key.secret, sealed.subarray(head.length), this.boundTo(place));
  }

  private openUnversioned(sealed: Buffer, before: string): string {
    for (const secret of this.ring.undivided.slice(0, -1)) {
      try {
        return openWith(secret, sealed, Buffer.from(before));
      } catch {
        // Another key sealed it: the next is tried, and the last one throws.
      }
    }
    return openWith(this.ring.undivided.at(-1) as Buffer, sealed, Buffer.from(before));
  }

  private boundTo(place: readonly string[]): Buffer {
    return Buffer.from(JSON.stringify([this.use, ...place]));
  }
}

function openWith(secret: Buffer, sealed: Buffer, boundTo: Buffer): string {
  const iv = sealed.subarray(0, IV_BYTES);
  const tag = sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', secret, iv).setAAD(boundTo).setAuthTag(tag);
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
}
