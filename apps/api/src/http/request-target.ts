import type { Request } from 'express';
import type { RequestTarget } from './surface';

const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)/i;

/**
 * What a request was sent to: by its target where that is absolute (RFC 9112, 3.2.2), else by its Host. Behind proxies that
 * are trusted (`trust proxy` of Express), X-Forwarded-Host and X-Forwarded-Proto say what the client sent; else nobody
 * reads them.
 */
export function targetOf(request: Request): RequestTarget {
  const scheme = request.protocol === 'https' ? 'https' : 'http';
  const [, authority, rest = ''] = ABSOLUTE.exec(request.url) ?? [];
  if (authority === undefined) return { scheme, host: request.host || 'localhost', url: request.url };
  return { scheme, host: authority, url: rest.startsWith('/') ? rest : `/${rest}` };
}
