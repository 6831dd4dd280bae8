import { isIPv6 } from 'node:net';
import type { Request } from 'express';

/** Where a request came from, proxies that we trust not counted; null when the connection has gone already. */
export function readAddress(request: Request): string | null {
  // Express reads X-Forwarded-For as its setting `trust proxy` says, which is MILLRACE_TRUSTED_PROXIES.
  const address = request.ip ?? request.socket.remoteAddress;
  return address === undefined ? null : address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, '');
}

/** The address, or of IPv6 its first 64 bits: one customer has as many of the rest as it likes. */
export function networkOfAddress(address: string | null): string {
  if (address === null || !isIPv6(address)) return address ?? 'unknown';
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros = address.includes('::') ? Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0') : [];
  const groups = [...before, ...zeros, ...after].slice(0, 4).map((group) => parseInt(group, 16).toString(16));
  return `${groups.join(':')}::/64`;
}
