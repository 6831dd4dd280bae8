import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Refusal, type SurfaceKind } from '@millrace/contracts';
import type { KeyRing, UseKey } from '@millrace/platform';

/** A download link and the time from which it no longer works. */
export interface ContentLink {
  url: string;
  expiresAt: Date;
}

/** What a genuine link allows. */
export interface LinkClaim {
  accountId: string;
  expiresAt: Date;
}

/** The part of a surface that a link depends on. */
export interface LinkBase {
  kind: SurfaceKind;
  /** Origin as customers see it, without a path. */
  origin: string;
  /** Path under which the surface is mounted; empty where it has the host to itself. */
  prefix: string;
}

/** Path of the route that serves signed links, without a credential; the asset's id follows. */
const SIGNED_CONTENT_PATH = '/content/';
/** Of a link's lifetime. */
const GENERATIONS = 4;

/**
 * Links to content that work without a credential for a short time. A link names our own route, never the store: making one
 * costs a hash, so that a poll of a job with many outputs stays cheap; HEAD works where GET does; and a link ends with its
 * asset. Where the store presigns URLs, the route redirects to one.
 */
export class ContentLinks {
  private readonly keys: [UseKey, ...UseKey[]];

  /**
   * @param ring the first key signs; all are accepted, so that a new one can be added before the old one is removed.
   * @param lifetimeSeconds how long a link works.
   */
  constructor(
    ring: KeyRing,
    private readonly lifetimeSeconds: number,
  ) {
    this.keys = [...ring.for('content links'), ...ring.undivided.map(formerKeyOf)];
  }

  /**
   * An absolute link to an asset's content. On the self-hosted surface it is the plain operation, with the authentication of
   * every other request there.
   */
  toContent(base: LinkBase, asset: { id: string; accountId: string }): ContentLink {
    // Whole seconds, rounded up: the link and its signature name the same time.
    const expires = Math.ceil(Date.now() / 1000) + this.lifetimeSeconds;
    const expiresAt = new Date(expires * 1000);
    if (base.kind === 'self_hosted') {
      return { url: `${base.origin}${base.prefix}/api/v2/assets/${asset.id}/content`, expiresAt };
    }
    const [key] = this.keys;
    const path = `${SIGNED_CONTENT_PATH}${asset.id}`;
    const signature = sign(key, { path, expires: String(expires), account: asset.accountId });
    const query = new URLSearchParams({ account: asset.accountId, expires: String(expires), key: key.id, signature });
    return { url: `${base.origin}${path}?${query.toString()}`, expiresAt };
  }

  /**
   * Links of one generation may stand for each other: a link lives four generations, so one that was made in this generation
   * still works for three quarters of its lifetime at least.
   *
   * @returns the number of the present one.
   */
  generation(): number {
    return Math.floor((Date.now() * GENERATIONS) / (this.lifetimeSeconds * 1000));
  }

  /**
   * Check a signed link, in constant time.
   *
   * @param path path of the request, from its first slash.
   * @returns the account whose asset the link is for, and when the link ends.
   * @throws Refusal `forbidden` when the link is not ours, was altered, is for another method, or has expired.
   */
  verify(method: string, path: string, query: URLSearchParams): LinkClaim {
    const account = query.get('account') ?? '';
    const expires = query.get('expires') ?? '';
    const key = this.keys.find((known) => known.id === query.get('key'));
    const readable = method === 'GET' || method === 'HEAD';
    if (!readable || key === undefined || !/^\d{1,12}$/.test(expires)) throw badLink();
    const expected = Buffer.from(sign(key, { path, expires, account }), 'base64url');
    const presented = Buffer.from(query.get('signature') ?? '', 'base64url');
    if (presented.length !== expected.length || !timingSafeEqual(presented, expected)) throw badLink();
    if (Number(expires) * 1000 <= Date.now()) {
      throw new Refusal('forbidden', 'The link has expired; read the asset or the job again for a fresh one.');
    }
    return { accountId: account, expiresAt: new Date(Number(expires) * 1000) };
  }
}

function badLink(): Refusal {
  return new Refusal('forbidden', 'This service did not make the link; read the asset or the job for one.');
}

/** The key that processes of the version before sign with: their links stay valid during an upgrade. */
function formerKeyOf(secret: Buffer): UseKey {
  const derived = createHmac('sha256', secret).update('millrace content link').digest();
  return { id: createHash('sha256').update(derived).digest('hex').slice(0, 8), secret: derived };
}

/** One signature covers GET and HEAD. Each field is a line, and contains no line break. */
function sign(key: UseKey, { path, expires, account }: { path: string; expires: string; account: string }): string {
  const text = ['GET', path, expires, account, key.id].join('\n');
  return createHmac('sha256', key.secret).update(text).digest('base64url');
}
