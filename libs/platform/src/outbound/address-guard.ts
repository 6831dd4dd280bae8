import { isIP } from 'node:net';
import { isInNetworks, isPublicAddress, type Network } from './networks';

type Scheme = 'http:' | 'https:';

const LONGEST_URL = 2_048;
/** Ports below belong to services of the system; of these only that of HTTPS is called. */
const FIRST_FREE_PORT = 1_024;
const HTTPS_PORT = 443;
/**
 * Names that the open network does not have: RFC 6761, RFC 6762, RFC 8375, and `.internal`, which ICANN keeps for private use. DNS may answer
 * for them inside of a cloud, with its metadata service.
 */
const PRIVATE_NAMES = ['localhost', 'localdomain', 'local', 'internal', 'home.arpa'];

/** An address is not one that calls are made to. */
export class AddressRefused extends Error {
  constructor(address: string) {
    super(`${address} is not a public address`);
    this.name = 'AddressRefused';
  }
}

/**
 * Decides where calls may go whose target somebody else names. That may be an attacker who wants this service to call what only
 * it can reach: so an address counts, never a name, and it is looked at whenever a connection is made (`guarded-agent.ts`).
 */
export class AddressGuard {
  /** @param allowed networks where targets may be though they are private, also without TLS. */
  constructor(private readonly allowed: readonly Network[]) {}

  /** Whether targets may be in private networks at all. */
  get allowsPrivate(): boolean {
    return this.allowed.length > 0;
  }

  /** True where this address may be called in this way. */
  admits(address: string, scheme: Scheme): boolean {
    if (isInNetworks(address, this.allowed)) return true;
    return scheme === 'https:' && isPublicAddress(address);
  }

  /** What is wrong with a URL, as the rest of a sentence; null: nothing that can be seen without asking DNS. */
  faultOf(text: string): string | null {
    if (text.length > LONGEST_URL) return `is longer than ${LONGEST_URL} characters`;
    if (!URL.canParse(text)) return 'is not a URL';
    const url = new URL(text);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && this.allowsPrivate))
      return 'must begin with https://';
    if (url.username !== '' || url.password !== '') return 'must not contain credentials';
    return this.faultOfHost(hostOf(url), url.protocol) ?? this.faultOfPort(url);
  }

  private faultOfHost(host: string, scheme: Scheme): string | null {
    if (isIP(host) !== 0) return this.admits(host, scheme) ? null : 'must name a public address';
    if (this.allowsPrivate) return null;
    return isPublicName(host) ? null : 'must name a host of the public internet';
  }

  private faultOfPort({ port }: URL): string | null {
    const isFree = port === '' || Number(port) === HTTPS_PORT || Number(port) >= FIRST_FREE_PORT;
    return isFree || this.allowsPrivate ? null : `must have port ${HTTPS_PORT}, or one from ${FIRST_FREE_PORT}`;
  }
}

/** @param host in lower case, as URLs have it. */
function isPublicName(host: string): boolean {
  const name = host.replace(/\.$/, '');
  return name.includes('.') && !PRIVATE_NAMES.some((ending) => name.endsWith(`.${ending}`));
}

/** The host of a URL, of an IPv6 address without its brackets. */
export function hostOf({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
