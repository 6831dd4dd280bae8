import { ServiceFailure, ServiceRedirect } from '../process';

/** How many redirects of one request are followed. */
export const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** A request that was redirected. */
export interface Redirected {
  from: URL;
  to: URL;
  /** The base address of the service. */
  base: URL;
}

/** Where an answer redirects to; null where it does not. */
export function redirectOf({ status, headers }: Response, url: URL): URL | null {
  const location = headers.get('location');
  return REDIRECTS.has(status) && location !== null && URL.canParse(location, url.href) ? new URL(location, url) : null;
}

/**
 * True where a read may follow: within its origin, and of content to another one, where a link needs no key (wire supplement, section 5).
 * The same path on another origin is the service itself at another address: there the key would be missing.
 */
export function mayFollow({ from, to, base }: Redirected, isContent: boolean): boolean {
  if (to.origin === from.origin) return true;
  if (!isContent || !/^https?:$/.test(to.protocol)) return false;
  return from.origin !== base.origin || pathOf(to) !== pathOf(from);
}

/** What a redirect that is not followed is to the reader. Nothing was done. */
export function redirectFailure(redirected: Redirected): ServiceRedirect | ServiceFailure {
  const { from, to, base } = redirected;
  const message = `${from.origin} redirects this request to ${to.origin}${to.pathname}.`;
  if (from.origin !== base.origin) return new ServiceFailure(message, { cure: 'Contact the operator of the service.' });
  const address = addressBehind(redirected);
  if (address === null)
    return new ServiceRedirect(
      message,
      'Check the address: what answers there, such as a page to sign in, is no Millrace service.',
    );
  return new ServiceRedirect(
    `${from.origin} redirects to ${address}.`,
    `Use that address: \`millrace login --url ${address}\`, --url or MILLRACE_URL; of \`millrace admin\`, --ops-url or MILLRACE_OPS_URL.`,
  );
}

/** The base address that a redirect shows; null where it leads to something else than the same operation. */
function addressBehind({ from, to, base }: Redirected): string | null {
  const prefix = base.pathname.replace(/\/$/, '');
  const isBelow = from.pathname.startsWith(`${prefix}/`);
  const operation = isBelow ? from.pathname.slice(prefix.length) : from.pathname;
  if (!to.pathname.endsWith(operation)) return null;
  const address = `${to.origin}${to.pathname.slice(0, -operation.length)}${isBelow ? '' : prefix}`;
  return address === `${base.origin}${prefix}` ? null : address;
}

function pathOf({ pathname, search }: URL): string {
  return `${pathname}${search}`;
}
