import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { AddressRefused, hostOf, type AddressGuard } from './address-guard';
import { CONNECT_MS } from './connect-limit';
import { resolvePrivateHost, resolvePublicHost, type ResolveHost } from './resolve-host';

const KEPT_OPEN_MS = 10_000;
const HEADER_BYTES = 16_384;

/**
 * Connections to hosts that somebody else names. Every one is checked against the guard twice: the addresses that DNS says, before
 * one is called, and the address that was reached, before a byte is sent. So a name that changes its address between two looks
 * (DNS rebinding) gains nothing. It follows no redirects, and uses no proxy.
 *
 * @param silentMs how long the head of an answer, and then each piece of it, may take.
 */
export function guardedAgent(
  guard: AddressGuard,
  silentMs: number,
  resolve: ResolveHost = guard.allowsPrivate ? resolvePrivateHost : resolvePublicHost,
): Agent {
  const limits = { maxHeaderSize: HEADER_BYTES, headersTimeout: silentMs, bodyTimeout: silentMs };
  return new Agent({ connect: connectorOf(guard, resolve), ...limits, keepAliveTimeout: KEPT_OPEN_MS, pipelining: 1 });
}

function connectorOf(guard: AddressGuard, resolve: ResolveHost): buildConnector.connector {
  const connectors = {
    'http:': buildConnector({ timeout: CONNECT_MS, lookup: lookupOf(guard, resolve, 'http:') }),
    'https:': buildConnector({ timeout: CONNECT_MS, lookup: lookupOf(guard, resolve, 'https:'), allowH2: false }),
  };
  return (options, callback) => {
    const scheme = options.protocol === 'http:' ? 'http:' : 'https:';
    const host = hostOf(options);
    // An address is not looked up.
    if (isIP(host) !== 0 && !guard.admits(host, scheme)) return callback(new AddressRefused(host), null);
    connectors[scheme](options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const reached = socket.remoteAddress ?? '';
      if (guard.admits(reached, scheme)) return callback(null, socket);
      socket.destroy();
      callback(new AddressRefused(reached), null);
    });
  };
}

/** One refused address refuses the name: who has such a name wants more than an answer. */
function lookupOf(guard: AddressGuard, resolve: ResolveHost, scheme: 'http:' | 'https:'): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then(
      (addresses) => {
        const refused = addresses.find(({ address }) => !guard.admits(address, scheme));
        const [first] = addresses;
        if (refused !== undefined) callback(new AddressRefused(refused.address), []);
        else if (options.all === true || first === undefined) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
