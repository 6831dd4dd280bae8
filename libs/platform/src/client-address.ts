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

/** What one customer has of IPv6 at least: a /56 is usual for a line, of whose 256 subnets each would else have limits of its own. */
const CUSTOMER_BITS = 56;
const SUBNET_BITS = 64;

/** By what limits count: the address, or of IPv6 its first 56 bits. `unknown` for null. */
export function networkOfAddress(address: string | null): string {
  return firstBits(address, CUSTOMER_BITS);
}

/** Who shares a link with an address: the address, or of IPv6 its first 64 bits. `unknown` for null. */
export function subnetOfAddress(address: string | null): string {
  return firstBits(address, SUBNET_BITS);
}

/** @param bits 49 to 64. */
function firstBits(address: string | null, bits: number): string {
  if (address === null || isIP(address) !== 6) return address ?? 'unknown';
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv6.parse(address).parts;
  const groups = [a, b, c, d & (0xffff << (64 - bits))];
  return `${groups.map((group) => group.toString(16)).join(':')}::/${bits}`;
}
