import type { Request, Response } from 'express';
import { Refusal } from '@millrace/contracts';
import { contextOf } from '../../http';

export const SESSION_COOKIE = 'millrace_session';
/** No script reads it, and no request that another site causes carries it. It ends with the browser, at the latest. */
const ATTRIBUTES = 'HttpOnly; SameSite=Strict; Path=/';

/**
 * The session that a request presents; null where it presents none.
 *
 * @throws Refusal `unauthorized` for two: a page of a host beside ours can have set one of them, and nobody knows which.
 */
export function sessionCookieOf({ headers }: Pick<Request, 'headers'>): string | null {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const [found, ...more] = pairs.filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`));
  if (found === undefined) return null;
  if (more.length === 0) return found.slice(SESSION_COOKIE.length + 1);
  throw new Refusal(
    'unauthorized',
    `There are two cookies ${SESSION_COOKIE}; delete the cookies of this site and sign in again.`,
  );
}

export function setSessionCookie(request: Request, response: Response, secret: string): void {
  response.setHeader('Set-Cookie', `${SESSION_COOKIE}=${secret}; ${ATTRIBUTES}${secureAttribute(request)}`);
}

export function clearSessionCookie(request: Request, response: Response): void {
  response.setHeader('Set-Cookie', `${SESSION_COOKIE}=; ${ATTRIBUTES}; Max-Age=0${secureAttribute(request)}`);
}

/** Over TLS, as far as this process knows: by the connection, by what a trusted proxy says, or by the public URL. */
function secureAttribute(request: Request): string {
  const isSecure = request.secure || contextOf(request).surface.origin.startsWith('https:');
  return isSecure ? '; Secure' : '';
}
