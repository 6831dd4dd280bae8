import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { contextOf } from '../http';
import { sessionCookieOf, type SessionCookie } from '../endpoints';

/** What a browser keeps that asked for a link by mail: without it the link is worth nothing. */
export const BROWSER_COOKIE: SessionCookie = { name: 'millrace_sign_in', path: '/platform/v1/sessions' };
/** As long as a link counts. */
const SECONDS = 900;
const FORM = /^[A-Za-z0-9_-]{43}$/;

/** What the browser keeps; one that keeps nothing gets something. The page of a link asks from this origin, so that the cookie can be strict. */
export function keepBrowser(request: Request, response: Response): string {
  const known = knownBrowser(request);
  const value = known ?? randomBytes(32).toString('base64url');
  const isSecure = request.secure || contextOf(request).surface.origin.startsWith('https:');
  const attributes = `HttpOnly; SameSite=Strict; Path=${BROWSER_COOKIE.path}; Max-Age=${SECONDS}`;
  response.setHeader('Set-Cookie', `${BROWSER_COOKIE.name}=${value}; ${attributes}${isSecure ? '; Secure' : ''}`);
  return value;
}

function knownBrowser(request: Request): string | null {
  const value = sessionCookieOf(request, BROWSER_COOKIE);
  return value !== null && FORM.test(value) ? value : null;
}
