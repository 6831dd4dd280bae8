import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { Refusal } from '@millrace/contracts';
import { networkOfAddress, readAddress, type BodiesInFlight } from '@millrace/platform';
import type { HeldBytes } from './body/held-bytes';
import { foreignSite, isOwnHost } from './own-hosts';
import { faultOfQuery } from './query';
import { requestIdHeaders } from './request-id';
import { targetOf } from './request-target';
import { resolveSurface, strayHost, type RequestTarget, type Surface, type SurfaceRules } from './surface';

/** What is known of a request. */
export interface RequestContext {
  readonly requestId: string;
  readonly surface: Surface;
  /** Where the request came from, proxies that we trust not counted; null when the connection had gone already. */
  readonly address: string | null;
  /** The network of that: it identifies clients without a credential. */
  readonly network: string;
  /** Who the endpoint's guard let in; null until then. */
  guest: unknown;
  /** Renews the rights of the guest; rejects when they have lost access since. Set with `guest`. */
  confirm: () => Promise<void>;
  /** When that was known last, on the clock of `performance.now()`. */
  confirmedAtMs: number;
  /** Whose limits the bytes of the request count against: its account, and until that is known its address. */
  payer: string;
  /** The bodies in memory that those of the request count with. */
  bodies: BodiesInFlight;
  /** What this request has in memory; null until there is any. */
  held: HeldBytes | null;
}

/** On the request itself: a WeakMap of every request costs the garbage collector more than all else in this file. */
const CONTEXT = Symbol('context');
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;
/** A name, an IPv4 or a bracketed IPv6 address, and a port (RFC 9112, 3.2): links are made from it. */
const HOST = /^(?:[A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
/** An expectation that Node meets, by its own rule. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

/** Of a request without a guard. */
const letIn = (): Promise<void> => Promise.resolve();

/** @throws when the request did not come through `contextMiddleware`. */
export function contextOf(request: object): RequestContext {
  const { [CONTEXT]: context } = request as { [CONTEXT]?: RequestContext };
  if (context === undefined) throw new Error('the request has no context');
  return context;
}

/** Only for the first of handlers, and for tests of what comes after it. */
export function giveContext(request: object, context: RequestContext): void {
  (request as { [CONTEXT]?: RequestContext })[CONTEXT] = context;
}

/** Where a request came from; see `RequestContext`. */
export function addressOf(request: object): string | null {
  return contextOf(request).address;
}

/** The network of a client; see `networkOfAddress`. */
export function networkOf(request: object): string {
  return contextOf(request).network;
}

/** Have the bytes of a request count with those of all callers without an account (`BodiesInFlight.strangers`). Before the first of them. */
export function countAsStranger(request: object): void {
  const context = contextOf(request);
  context.bodies = context.bodies.strangers;
}

/**
 * First of all handlers: gives a request its id (the client's own where it is sound) and its surface, and takes the mount
 * prefix off its path, so that one set of routes serves every surface.
 */
export function contextMiddleware(rules: SurfaceRules, bodies: BodiesInFlight): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const sent = request.headers['x-request-id'];
    const requestId = typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
    // What is written after the connection has gone, or after the end, is lost; that must not end the process.
    response.on('error', ignore);
    for (const [name, value] of Object.entries(requestIdHeaders(requestId))) response.setHeader(name, value);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    const target = targetOf(request);
    const known = HOST.test(request.headers.host ?? '') && HOST.test(target.host);
    const linkable = known && isLinkable(rules, request, target);
    const { surface, url } = resolveSurface(rules, linkable ? target : { ...target, host: localHostOf(request) });
    request.url = url;
    const address = readAddress(request);
    const network = networkOfAddress(address);
    giveContext(request, {
      requestId,
      surface,
      address,
      network,
      guest: null,
      confirm: letIn,
      confirmedAtMs: 0,
      payer: network,
      bodies,
      held: null,
    });
    next(refusalOf(rules, request, { target, known }) ?? faultOfQuery(url) ?? undefined);
  };
}

/** Whether links may name the host of a request: it is one of ours, or a trusted proxy sent it in X-Forwarded-Host. */
function isLinkable(rules: SurfaceRules, request: Request, { host }: RequestTarget): boolean {
  const isForwarded = request.app.get('trust proxy') !== 0 && request.headers['x-forwarded-host'] !== undefined;
  return rules.publicUrl !== undefined || isForwarded || isOwnHost(rules, host);
}

/** The address at which the request arrived, for links where nothing better is known. */
function localHostOf({ socket }: Request): string {
  const { localAddress = '127.0.0.1', localPort = 80 } = socket;
  const address = localAddress.replace(/^::ffff:/, '');
  return `${address.includes(':') ? `[${address}]` : address}:${localPort}`;
}

function refusalOf(
  rules: SurfaceRules,
  request: Request,
  { target, known }: { target: RequestTarget; known: boolean },
): Refusal | undefined {
  const { expect } = request.headers;
  if (expect !== undefined && request.httpVersion === '1.1' && !CONTINUE.test(expect)) {
    return new Refusal('invalid_request', 'Only Expect: 100-continue is supported.', { status: 417 });
  }
  if (!known && request.httpVersion !== '1.0') {
    return new Refusal('invalid_request', 'The Host header is missing or names no host.', { status: 400 });
  }
  if (!known) return undefined;
  const foreign = rules.open ? foreignSite(rules, target.host, request.headers.origin) : undefined;
  return foreign ?? strayHost(rules, target.host) ?? undefined;
}

function ignore(): void {}
