import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Refusal, type SurfaceKind } from '@millrace/contracts';

/** A download link and the time from which it no longer works. */
export interface ContentLink {
  url: string;
  expiresAt: Date;
}

/** What of a surface a link depends on. */
export interface LinkBase {
  kind: SurfaceKind;
  /** Origin as customers see it, without a path. */
  origin: string;
  /** Path under which the surface is mounted; empty where it has the host to itself. */
  prefix: string;
}

/** Path of the route that serves signed links, the asset's id following. It asks for no credential. */
export const SIGNED_CONTENT_PATH = '/content/';

interface SigningKey {
  id: string;
  secret: Buffer;
}

/**
 * Links to content that work without a credential for a short time. A link names our own route, never the storage: making
 * one costs a hash, so that a poll of a job with many outputs stays cheap; HEAD works wherever GET does; and a link dies
 * with its asset. Behind the route the store's presigned URL, where there is one, takes over.
 */
export class ContentLinks {
  private readonly keys: SigningKey[];

  /**
   * @param secrets the first signs; all are accepted, so that a new one can be brought in before the old one goes.
   * @param lifetimeSeconds how long a link works.
   */
  constructor(
    secrets: [Buffer, ...Buffer[]],
    private readonly lifetimeSeconds: number,
  ) {
    this.keys = secrets.map(signingKeyOf);
  }

  /**
   * A link to an asset's content, absolute. On the self-hosted surface it is the plain operation, which needs what every
   * other request there needs.
   */
  toContent(base: LinkBase, asset: { id: string; accountId: string }): ContentLink {
    // Whole seconds, rounded up: the link and its signature name the same time.
    const expires = Math.ceil(Date.now() / 1000) + this.lifetimeSeconds;
    const expiresAt = new Date(expires * 1000);
    if (base.kind === 'self_hosted') {
      return { url: `${base.origin}${base.prefix}/api/v2/assets/${asset.id}/content`, expiresAt };
    }
    const [key] = this.keys as [SigningKey];
    const path = `${SIGNED_CONTENT_PATH}${asset.id}`;
    const signature = sign(key, { path, expires: String(expires), account: asset.accountId });
    const query = new URLSearchParams({ account: asset.accountId, expires: String(expires), key: key.id, signature });
    return { url: `${base.origin}${path}?${query.toString()}`, expiresAt };
  }

  /**
   * Check a signed link, in constant time.
   *
   * @param path path of the request, from its first slash.
   * @returns the account whose asset the link is for.
   * @throws Refusal `forbidden` when it was not made by us, was altered, is for another method, or has expired.
   */
  verify(method: string, path: string, query: URLSearchParams): string {
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
    return account;
  }
}

function badLink(): Refusal {
  return new Refusal('forbidden', 'The link is not one that this service made; read the asset or the job for one.');
}

/** A key of its own for this use, so that no signature made here means anything elsewhere. */
function signingKeyOf(secret: Buffer): SigningKey {
  const derived = createHmac('sha256', secret).update('millrace content link').digest();
  return { id: createHash('sha256').update(derived).digest('hex').slice(0, 8), secret: derived };
}

/** One signature covers reading by GET and by HEAD. Fields are on lines of their own, and hold no line breaks. */
function sign(key: SigningKey, { path, expires, account }: { path: string; expires: string; account: string }): string {
  const text = ['GET', path, expires, account, key.id].join('\n');
  return createHmac('sha256', key.secret).update(text).digest('base64url');
}
