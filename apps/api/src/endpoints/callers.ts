import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { assertScope, bearerOf, type Authenticator, type Caller } from '@millrace/accounts';
import { Refusal, SCOPES, type Scope } from '@millrace/contracts';
import { noDeployment, type DeploymentsService } from '@millrace/deployments';
import type { JobScope } from '@millrace/jobs';
import { contextOf } from '../http/request-context';
import type { RequestLimits } from './request-limits';

/** The account through which the self-hosted surface acts. */
export const SELF_HOSTED_ACCOUNT = '00000000-0000-7000-8000-000000000001';
/** The account that the callers of demo deployments share. */
export const DEMO_ACCOUNT = '00000000-0000-7000-8000-000000000002';

/** Whoever sends a request, and where their jobs are found. */
export interface Visitor {
  caller: Caller;
  scope: JobScope;
}

export interface CallerSettings {
  /** The one token of the self-hosted surface; undefined: it is open. */
  token: string | undefined;
  /** What all callers of demo deployments together may upload. */
  demoUploadBytesPerDay: number;
}

const OUT_OF_SERVICE = 'This demo deployment is out of service: the account that it belongs to is suspended.';

/** Finds out who sends a request, by the rules of the surface it came to (contract, section 5). */
export class Callers {
  private readonly demoCaller: Caller;

  constructor(
    private readonly authenticator: Authenticator,
    private readonly deployments: Pick<DeploymentsService, 'find'>,
    private readonly settings: CallerSettings,
    private readonly limits: RequestLimits,
  ) {
    const { demoUploadBytesPerDay: uploadBytesPerDay } = settings;
    this.demoCaller = { ...demoCaller, limits: { ...demoCaller.limits, uploadBytesPerDay } };
  }

  /**
   * Who sends a request, if they may do this.
   *
   * @throws Refusal 401 `unauthorized`; 403 `forbidden`, also for a demo deployment of a suspended account; 404 `not_found`
   * for a deployment that is not the caller's; 429 `rate_limited`.
   */
  async admit(request: Request, scope: Scope): Promise<Visitor> {
    const { kind, deploymentId } = contextOf(request).surface;
    const caller = await this.callerOf(request);
    assertScope(caller, scope);
    return { caller, scope: { accountId: caller.accountId, surface: kind, deploymentId } };
  }

  /**
   * Whose API key a request presents, on whatever surface, if it may do this. The self-hosted surface has no keys: whoever
   * may use it acts for its one account.
   *
   * @throws Refusal 401 `unauthorized`, 403 `forbidden`, 429 `rate_limited`.
   */
  async admitKey(request: Request, scope: Scope): Promise<Caller> {
    const isSelfHosted = contextOf(request).surface.kind === 'self_hosted';
    const caller = isSelfHosted ? this.selfHosted(request) : await this.ofKey(request);
    assertScope(caller, scope);
    return caller;
  }

  private async callerOf(request: Request): Promise<Caller> {
    const { kind, deploymentId } = contextOf(request).surface;
    if (deploymentId !== null) return this.ofDeployment(request, deploymentId);
    if (kind === 'self_hosted') return this.selfHosted(request);
    return this.ofKey(request);
  }

  private async ofKey(request: Request): Promise<Caller> {
    const caller = await this.authenticator.authenticate(request.headers.authorization);
    this.limits.take(request, caller);
    return caller;
  }

  /**
   * A demo deployment looks at no credential: whoever comes to it acts through the account that they all share, and is
   * never charged. Of any other, none but the owner learns that it is there.
   */
  private async ofDeployment(request: Request, id: string): Promise<Caller> {
    const deployment = await this.deployments.find(id);
    if (deployment?.demo) {
      this.limits.takeByAddress(request);
      if (deployment.ownerSuspended) throw new Refusal('forbidden', OUT_OF_SERVICE);
      const context = contextOf(request);
      context.surface = { ...context.surface, demo: true };
      return this.demoCaller;
    }
    const caller = await this.ofKey(request);
    if (deployment?.accountId !== caller.accountId) throw noDeployment(id);
    return caller;
  }

  private selfHosted(request: Request): Caller {
    const { token } = this.settings;
    if (token !== undefined && !equalTexts(bearerOf(request.headers.authorization, 'token'), token)) {
      throw new Refusal('unauthorized', 'The bearer token is not the one this service was configured with.');
    }
    this.limits.take(request, selfHostedCaller);
    return selfHostedCaller;
  }
}

// There are no keys on the self-hosted surface, so nobody can make one.
const selfHostedScopes = SCOPES.filter((scope) => scope !== 'keys:admin');
const selfHostedCaller = keylessCaller(SELF_HOSTED_ACCOUNT, selfHostedScopes);
const demoCaller = keylessCaller(DEMO_ACCOUNT, ['jobs:read', 'jobs:write', 'assets:read', 'assets:write']);

/** Whoever comes without a key of an account's own. */
function keylessCaller(accountId: string, scopes: readonly Scope[]): Caller {
  return {
    accountId,
    apiKeyId: null,
    scopes: new Set(scopes),
    accountStatus: 'active',
    limits: {
      weight: 1,
      runningLimit: null,
      queueLimit: null,
      requestsPerMinute: null,
      streamLimit: null,
      uploadBytesPerDay: null,
    },
  };
}

/** Compare credentials in a time that tells nothing of either. */
export function equalTexts(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
