import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** What of a request says from where it came. */
interface Addressed {
  /** As Express reads it from the connection, or from X-Forwarded-For as its setting `trust proxy` says. */
  ip?: string | undefined;
  socket: { remoteAddress?: string | undefined };
}

/**
 * Where a request came from, proxies that we trust not counted. Proxies append the port as well (Azure Application Gateway, IIS with ARR,
 * load balancers of AWS that keep it): it is left out.
 *
 * @returns null when the connection has gone already, or what a proxy sent is no address.
 */
export function readAddress({ ip, socket }: Addressed): string | null {
  const sent = ip ?? socket.remoteAddress ?? '';
  const address = sent
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, '');
  return isIP(address) === 0 ? null : address;
}

/** The address, or of IPv6 its first 64 bits: one customer has as many of the rest as it likes. */
export function networkOfAddress(address: string | null): string {
  if (address === null || isIP(address) !== 6) return address ?? 'unknown';
  const groups = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}
