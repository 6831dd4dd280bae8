import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** A network: its address, and how many of its bits count. */
export type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** All of IPv6 that was ever given out for the open network (IANA, IPv6 Global Unicast Address Space). */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
/** The second range for documentation (RFC 9637), which the library does not know. */
const DOCUMENTATION = ipaddr.parseCIDR('3fff::/20');

/** Read networks, with commas between. @returns them, or what is wrong with the text. */
export function readNetworks(text: string): Network[] | string {
  const parts = text.split(',').map((part) => part.trim());
  const wrong = parts.find((part) => !ipaddr.isValidCIDR(part));
  if (wrong !== undefined) return `${wrong} is no network such as 10.0.0.0/8 or fd00::/8`;
  return parts.map((part) => ipaddr.parseCIDR(part));
}

/** A setting that lists networks. */
export const networkList = z.string().transform((text, context) => {
  const networks = readNetworks(text);
  if (typeof networks !== 'string') return networks;
  context.addIssue({ code: 'custom', message: networks });
  return z.NEVER;
});

/**
 * True for an address of the open network. What is private, loopback, link-local (where clouds have their metadata), shared by
 * carriers, multicast, reserved, or another address in disguise (mapped, NAT64, 6to4, Teredo) is none: the registries of RFC 6890.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || (parsed.match(GLOBAL_UNICAST) && !parsed.match(DOCUMENTATION));
}

/** True where every address of the network is in one of the others. */
export function isWithinNetworks([base, bits]: Network, networks: readonly Network[]): boolean {
  return networks.some(([outer, outerBits]) => {
    return outer.kind() === base.kind() && outerBits <= bits && base.match(outer, outerBits);
  });
}

/** True where the address is in one of the networks. */
export function isInNetworks(address: string, networks: readonly Network[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  return networks.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
}
