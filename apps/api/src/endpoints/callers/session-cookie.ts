import type { Request, Response } from 'express';
import { Refusal } from '@millrace/contracts';
import { contextOf } from '../../http';

/** A cookie that holds a session, and the paths to which browsers send it. */
export interface SessionCookie {
  readonly name: string;
  readonly path: string;
}

/** Of who is signed in to an account. */
export const SESSION_COOKIE: SessionCookie = { name: 'millrace_session', path: '/' };
/** Of an operator. Cookies know no ports: by name and path the public listener of a host has nothing to do with it. */
export const OPERATOR_COOKIE: SessionCookie = { name: 'millrace_operator', path: '/admin/v1' };

/** No script reads it, and no request that another site causes carries it. It ends with the browser, at the latest. */
const attributesOf = ({ path }: SessionCookie): string => `HttpOnly; SameSite=Strict; Path=${path}`;

/**
 * The session that a request presents; null where it presents none.
 *
 * @throws Refusal `unauthorized` for two: a page of a host beside ours can have set one of them, and nobody knows which.
 */
export function sessionCookieOf({ headers }: Pick<Request, 'headers'>, { name } = SESSION_COOKIE): string | null {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const [found, ...more] = pairs.filter((pair) => pair.startsWith(`${name}=`));
  if (found === undefined) return null;
  if (more.length === 0) return found.slice(name.length + 1);
  throw new Refusal(
    'unauthorized',
    `There are two cookies ${name}; delete the cookies of this site and sign in again.`,
  );
}

export function setSessionCookie(
  request: Request,
  response: Response,
  secret: string,
  cookie: SessionCookie = SESSION_COOKIE,
): void {
  response.append('Set-Cookie', `${cookie.name}=${secret}; ${attributesOf(cookie)}${secureAttribute(request)}`);
}

export function clearSessionCookie(request: Request, response: Response, cookie: SessionCookie = SESSION_COOKIE): void {
  const attributes = `${attributesOf(cookie)}; Max-Age=0${secureAttribute(request)}`;
  response.append('Set-Cookie', `${cookie.name}=; ${attributes}`);
}

/** Over TLS, as far as this process knows: by the connection, by what a trusted proxy says, or by the public URL. */
function secureAttribute(request: Request): string {
  const isSecure = request.secure || contextOf(request).surface.origin.startsWith('https:');
  return isSecure ? '; Secure' : '';
}
