import type { Request } from 'express';

/** Where a request came from, proxies that we trust not counted; null when the connection has gone already. */
export function addressOf(request: Request): string | null {
  // Express reads X-Forwarded-For as its setting `trust proxy` says, which is MILLRACE_TRUSTED_PROXIES.
  const address = request.ip ?? request.socket.remoteAddress;
  return address === undefined ? null : address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, '');
}
