import { isIP } from 'node:net';
import { Refusal } from '@millrace/contracts';
import type { SurfaceRules } from './surface';

type HostRules = Pick<SurfaceRules, 'publicUrl' | 'deploymentDomain'>;

/** Names of the machine itself (RFC 6761, 6.3), which no foreign name server answers for. */
const LOOPBACK = /^(.+\.)?localhost$/;

/**
 * Whether a host is one of ours: a loopback name, an IP literal, the host of the public URL, or the deployment domain and what
 * is below it. A page of another site can reach us under any other name (DNS rebinding), but under none of these.
 *
 * @param host name and port, as in a Host header.
 */
export function isOwnHost({ publicUrl, deploymentDomain }: HostRules, host: string): boolean {
  const name = nameOf(host);
  if (LOOPBACK.test(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0) return true;
  if (publicUrl !== undefined && name === nameOf(new URL(publicUrl).host)) return true;
  return deploymentDomain !== undefined && (name === deploymentDomain || name.endsWith(`.${deploymentDomain}`));
}

/**
 * Check a request to a service that asks for no credential: it must name one of our hosts, or a name without a dot, which only
 * the local network resolves. If a page sent it, the page must be ours; one at another IP address is not.
 *
 * @returns the refusal, which says what to set; undefined where all is well.
 */
export function foreignSite(rules: HostRules, host: string, origin: string | undefined): Refusal | undefined {
  if (!isOwnHost(rules, host) && nameOf(host).includes('.')) return foreign('does not answer to the host', host);
  if (origin === undefined || isOwnPage(rules, host, origin)) return undefined;
  return foreign('takes no requests from pages of', origin);
}

/**
 * Refuse what a page of another site sent, also where a credential came with it: a page that a foreign name resolves to us is one
 * (DNS rebinding). Programs send no Origin.
 *
 * @throws Refusal `forbidden`.
 */
export function assertNoForeignPage(rules: HostRules, host: string, origin: string | undefined): void {
  if (origin === undefined || (isOwnHost(rules, host) && isOwnPage(rules, host, origin))) return;
  const message =
    `This request came from a page of ${origin.slice(0, 200)}, and takes none from pages of other sites. Use a client that is no ` +
    'browser. If that is the address of this service, MILLRACE_PUBLIC_URL is not set to it.';
  throw new Refusal('forbidden', message);
}

function isOwnPage(rules: HostRules, host: string, origin: string): boolean {
  const sender = URL.canParse(origin) ? new URL(origin).host : '';
  const named = isIP(nameOf(sender).replace(/^\[(.*)\]$/, '$1')) === 0 || nameOf(sender).startsWith('127.');
  return sender === host.toLowerCase() || (named && sender !== '' && isOwnHost(rules, sender));
}

/** In lower case, without the port and without the dot that ends a fully qualified name (RFC 4343, 1034). */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

function foreign(what: string, name: string): Refusal {
  return new Refusal(
    'forbidden',
    `This service is open to anyone who reaches it, so it ${what} ${name.slice(0, 200)}. Set MILLRACE_PUBLIC_URL to the ` +
      'address under which it is reached, or MILLRACE_TOKEN to require a token.',
  );
}
