import { createHash, hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;
const ID = /^[A-Za-z0-9_-]{1,32}$/;
const BASE64 = /^[A-Za-z0-9+/]{43}=$/;

/** What keys are used for. Each use has keys of its own, so that what is made for one is worth nothing to another. */
export const KEY_USES = [
  'content links',
  'part links',
  'job credentials',
  'demo networks',
  'API keys',
  'console sessions',
  'sign-in links',
  'sign-in requests',
  'sign-in networks',
  'invitations',
  'mail',
  'mail addresses',
  'operator sessions',
  'operator tokens',
  'webhook secrets',
  'export destinations',
  'erasure notes',
  'remote outputs',
  'remote scopes',
] as const;
export type KeyUse = (typeof KEY_USES)[number];

/** A key of a ring, for one use. */
export interface UseKey {
  /** Names the key in what was made with it. Not secret. */
  id: string;
  secret: Buffer;
}

/**
 * The secret keys of the service. The first signs and seals, all are accepted: so a new key is added before an old one is
 * removed, and nothing breaks in between (docs/operations.md). Keys for each use are derived by HKDF-SHA256 (RFC 5869).
 */
export class KeyRing {
  /** @param keys with ids that differ; the secrets have 32 bytes. */
  constructor(private readonly keys: readonly [UseKey, ...UseKey[]]) {}

  /**
   * Read a ring: keys separated by commas, each the base64 of 32 bytes, with an id and a colon before it or without.
   *
   * @returns the ring, or what is wrong with the text, without a part of it.
   */
  static parse(text: string): KeyRing | string {
    const entries = text.split(',').map((entry) => /^(?:([^:]*):)?(.*)$/.exec(entry.trim()) ?? []);
    const keys = entries.map(([, id, key = '']) => ({ id, key }));
    if (keys.some(({ key }) => !BASE64.test(key))) return 'each key must be the base64 of 32 bytes';
    if (keys.some(({ id }) => id !== undefined && !ID.test(id))) return 'an id has 1 to 32 letters, digits, - and _';
    const [first, ...rest] = keys.map(({ id, key }) => {
      const secret = Buffer.from(key, 'base64');
      return { id: id ?? idOf(secret), secret };
    });
    if (first === undefined) return 'must have a key';
    if (new Set([first, ...rest].map(({ id }) => id)).size !== keys.length) return 'two keys have the same id';
    return new KeyRing([first, ...rest]);
  }

  /** A ring of one key. */
  static of(secret: Buffer): KeyRing {
    return new KeyRing([{ id: idOf(secret), secret }]);
  }

  /** Whether a key is accepted that no longer signs and seals. */
  get hasFormer(): boolean {
    return this.keys.length > 1;
  }

  /** The keys for a use, the one that signs and seals first. */
  for(use: KeyUse): [UseKey, ...UseKey[]] {
    const [first, ...rest] = this.keys;
    return [derived(first, use), ...rest.map((key) => derived(key, use))];
  }

  /** The secrets themselves, only to accept what was made before there were keys for each use. */
  get undivided(): readonly Buffer[] {
    return this.keys.map(({ secret }) => secret);
  }
}

function derived({ id, secret }: UseKey, use: KeyUse): UseKey {
  return { id, secret: Buffer.from(hkdfSync('sha256', secret, '', `millrace ${use}`, KEY_BYTES)) };
}

/** The id of a key that was given none: it says nothing about the key. */
function idOf(secret: Buffer): string {
  const text = hkdfSync('sha256', secret, '', 'millrace key id', KEY_BYTES);
  return createHash('sha256').update(Buffer.from(text)).digest('hex').slice(0, 8);
}
