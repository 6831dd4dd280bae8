import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, createParamDecorator, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { FailedAttempts, bearerOf } from '@millrace/accounts';
import { GATEWAY_HEADERS, GATEWAY_PROTOCOL, Refusal } from '@millrace/contracts';
import { WorkerTokens, type WorkerTokenHolder } from '@millrace/deployments';
import { BoundedMap, VERSION, networkOfAddress, readAddress } from '@millrace/platform';
import { RequestBodies } from './request-bodies';
import { RequestBody } from './request-body';
import { RequestsUnderWay } from './requests-under-way';
import { TokenAllowance } from './token-allowance';

/** Tokens remembered that were valid once, by their hashes: their lookups are not counted among those of what anyone may have made up. */
const KNOWN_TOKENS = 10_000;

const holders = new WeakMap<IncomingMessage, WorkerTokenHolder>();

/** Who sent a request: the holder of a worker token, set by the guard. */
export const Holder = createParamDecorator((_: unknown, context: ExecutionContext): WorkerTokenHolder => {
  const holder = holders.get(context.switchToHttp().getRequest<IncomingMessage>());
  if (holder === undefined) throw new Error('a request passed without a token');
  return holder;
});

/**
 * Lets in workers that speak our protocol and show a token that works now: it is looked up for every request, so that a revoked
 * one ends its workers' work at once.
 */
@Injectable()
export class WorkerTokenGuard implements CanActivate {
  private readonly known = new BoundedMap<true>(KNOWN_TOKENS);

  constructor(
    private readonly tokens: WorkerTokens,
    private readonly failures: FailedAttempts,
    private readonly allowance: TokenAllowance,
    private readonly bodies: RequestBodies,
    private readonly underWay: RequestsUnderWay,
  ) {}

  /** @throws Refusal `invalid_request` for another protocol; `unauthorized`; `rate_limited`. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<IncomingMessage & { ip?: string }>();
    assertProtocol(request);
    const token = bearerOf(request.headers.authorization, 'worker token');
    const network = networkOfAddress(readAddress(request));
    const find = (): Promise<WorkerTokenHolder | null> => this.tokens.holderOf(token);
    const hash = createHash('sha256').update(token).digest('base64url');
    const wasValid = this.known.get(hash) === true;
    // Before it is looked up: one that was revoked asks for no more than one that works.
    if (wasValid) this.allowance.take(hash, context);
    const holder = await (wasValid ? find() : this.failures.lookUp(network, find));
    if (holder === null) {
      const message = 'The worker token is not valid; it may have expired or been revoked.';
      // A worker whose token was revoked asks on for a while: that is no attempt to find one, and its neighbours pass.
      throw wasValid ? new Refusal('unauthorized', message) : this.failures.refusal(network, message);
    }
    if (!wasValid) this.allowance.take(hash, context);
    this.known.set(hash, true);
    holders.set(request, holder);
    const response = context.switchToHttp().getResponse<ServerResponse>();
    this.underWay.enter(holder.tokenId, response);
    RequestBody.open(request, response, this.bodies, holder.tokenId);
    return true;
  }
}

/** A worker of another protocol would misread what it is answered. */
function assertProtocol(request: IncomingMessage): void {
  const spoken = request.headers[GATEWAY_HEADERS.protocol];
  if (spoken === String(GATEWAY_PROTOCOL)) return;
  throw new Refusal(
    'invalid_request',
    `This gateway has version ${VERSION} and speaks protocol ${GATEWAY_PROTOCOL}, not ${String(spoken ?? 'none').slice(0, 20)}: ` +
      'run a worker of the same version.',
    { status: 400, details: { protocol: GATEWAY_PROTOCOL, version: VERSION } },
  );
}
