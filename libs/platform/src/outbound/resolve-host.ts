import { lookup, promises as dns } from 'node:dns';
import type { LookupAddress } from 'node:dns';

/** Every address of a host. @throws when it has none, or DNS does not say. */
export type ResolveHost = (host: string) => Promise<LookupAddress[]>;

const ANSWER_MS = 3_000;

/**
 * Asks DNS without the system's resolver: that blocks a thread for each name, of which a process has four, and the DNS of a
 * stranger may be made to take as long as it likes.
 */
export const resolvePublicHost: ResolveHost = async (host) => {
  const resolver = new dns.Resolver({ timeout: ANSWER_MS, tries: 1 });
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length === 0) throw four.status === 'rejected' ? four.reason : new Error(`${host} has no address`);
  return addresses;
};

/** Asks the system, which knows hosts of private networks by its own files and search lists. */
export const resolvePrivateHost: ResolveHost = (host) =>
  new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  });
