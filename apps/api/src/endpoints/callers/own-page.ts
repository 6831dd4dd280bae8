import type { Request } from 'express';
import { Refusal } from '@millrace/contracts';
import { contextOf, targetOf } from '../../http';

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];
/** A header that a form cannot send, and a page of another origin only where we allow it, which we do not. */
const CONSOLE_HEADER = 'Millrace-Console';

/**
 * A browser sends a session by itself, also when a page of another site makes it ask. So a request that changes something must
 * say that the console sent it.
 *
 * @throws Refusal `forbidden`.
 */
export function assertFromConsole(request: Request): void {
  if (!SAFE_METHODS.includes(request.method)) assertSentByConsole(request);
}

/**
 * As `assertFromConsole`, for requests that only read, too: what operators read is about all accounts.
 *
 * @throws Refusal `forbidden`.
 */
export function assertSentByConsole(request: Request): void {
  assertOwnPage(request);
  if (request.get(CONSOLE_HEADER) === '1') return;
  const message = `Send the header ${CONSOLE_HEADER}: 1 with a request that a session signs in, or a key or token instead of the session.`;
  throw new Refusal('forbidden', message);
}

/**
 * Refuse what a page of another origin sent, where the browser says so (Fetch Metadata; RFC 6454).
 *
 * @throws Refusal `forbidden`.
 */
export function assertOwnPage(request: Request): void {
  const site = request.get('Sec-Fetch-Site');
  const { origin } = request.headers;
  const isOurs =
    (site === undefined || site === 'same-origin') && (origin === undefined || isOwnOrigin(request, origin));
  if (isOurs) return;
  const message =
    `This request came from a page of another origin (${(origin ?? site ?? '').slice(0, 200)}). Use the console at the address ` +
    'of this service. If that is where you are, MILLRACE_PUBLIC_URL is not set to it.';
  throw new Refusal('forbidden', message);
}

/** By its host alone: a proxy that ends TLS need not say so. */
function isOwnOrigin(request: Request, origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  return host === targetOf(request).host.toLowerCase() || host === new URL(contextOf(request).surface.origin).host;
}
