import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import {
  AddressGate,
  Authenticator,
  FailedAttempts,
  assertActive,
  assertScope,
  bearerOf,
  labelsText,
  noSession,
  type Caller,
} from '@millrace/accounts';
import { Refusal, type Scope } from '@millrace/contracts';
import { DeploymentsService, noDeployment, type Deployment } from '@millrace/deployments';
import { subnetOfAddress } from '@millrace/platform';
import { API_SETTINGS, type ApiSettings } from '../../api.config';
import { addressOf, contextOf, networkOf } from '../../http';
import type { Access } from '../access';
import type { CountedAs } from '../endpoint';
import { DemoCallers } from './demo-callers';
import { equalTexts } from '../equal-texts';
import { RequestLimits } from '../request-limits';
import { selfHostedCaller } from './self-hosted-caller';
import { SessionCallers } from './session-callers';
import type { SignedIn, Visitor } from '../visitor';

const OUT_OF_SERVICE = 'This demo deployment is out of service: the account that it belongs to is suspended.';

/** Who calls, and whether what they came to is a demo. */
interface Identity {
  caller: Caller;
  demo: boolean;
}

/** Finds out who sends a request, by the rules of the surface it came to (contract, section 5). */
@Injectable()
export class Callers {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly failures: FailedAttempts,
    private readonly deployments: DeploymentsService,
    private readonly demos: DemoCallers,
    private readonly sessions: SessionCallers,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'token'>,
    private readonly limits: RequestLimits,
    private readonly gate: AddressGate,
  ) {}

  /**
   * Who sends a request, if they may do this. Counts the request.
   *
   * @throws Refusal 401 `unauthorized`; 403 `forbidden`, also for a demo deployment of a suspended account; 404 `not_found`
   * for a deployment that is not the caller's; 429 `rate_limited`.
   */
  async identify(request: Request, access: Extract<Access, { scope: Scope }>, countedAs: CountedAs): Promise<Visitor> {
    const { caller, demo } = await (access.by === 'surface'
      ? this.onSurface(request, access.scope, countedAs)
      : this.withKey(request, countedAs));
    assertAdmits(access, caller);
    assertScope(caller, access.scope);
    return visitorOf(request, caller, demo);
  }

  /**
   * Who is signed in to the console, no matter what they may do. Counts the request.
   *
   * @throws Refusal 401 `unauthorized`, 403 `forbidden`, 429 `rate_limited`.
   */
  async identifySignedIn(request: Request): Promise<SignedIn> {
    const caller = await this.sessions.of(request);
    if (caller === null) throw noSession();
    await this.gate.assertAllowed(caller, addressOf(request), networkOf(request));
    this.limits.take(request, caller, 'requests');
    assertActive(caller);
    return { ...visitorOf(request, caller, false), caller };
  }

  /**
   * Ask again whether who was let in has access. Counts no request.
   *
   * @returns the caller, with the rights that they have now.
   * @throws Refusal 401 `unauthorized`, 403 `forbidden`, when that has ended.
   */
  async confirm(
    request: Request,
    { caller, surface, demo }: Visitor,
    access: Extract<Access, { scope: Scope }>,
  ): Promise<Visitor['caller']> {
    if (demo) {
      const deployment = await this.lookUp(request, surface.deploymentId ?? '', access.scope);
      if (deployment === null || deployment.ownerSuspended) throw new Refusal('forbidden', OUT_OF_SERVICE);
      return caller;
    }
    if (surface.kind === 'self_hosted' && caller.sessionId === undefined) return caller;
    const now = await this.keyHolder(request);
    assertAdmits(access, now);
    assertScope(now, access.scope);
    return now;
  }

  private async onSurface(request: Request, scope: Scope, countedAs: CountedAs): Promise<Identity> {
    const { deploymentId } = contextOf(request).surface;
    if (deploymentId === null) return this.withKey(request, countedAs);
    return this.onDeployment(request, deploymentId, scope, countedAs);
  }

  /** The self-hosted surface has no keys: who may use it acts for its one account. */
  private async withKey(request: Request, countedAs: CountedAs): Promise<Identity> {
    const isSelfHosted = contextOf(request).surface.kind === 'self_hosted';
    const caller = await (isSelfHosted ? this.tokenHolder(request) : this.keyHolder(request));
    this.limits.take(request, caller, countedAs);
    return { caller, demo: false };
  }

  /** @throws Refusal `unauthorized`, `forbidden`, `rate_limited`. */
  private async keyHolder(request: Request): Promise<Caller> {
    const { authorization } = request.headers;
    const signedIn = await this.sessions.of(request);
    const caller = signedIn ?? (await this.authenticator.authenticate(authorization, networkOf(request)));
    await this.gate.assertAllowed(caller, addressOf(request), networkOf(request));
    return caller;
  }

  /** Where there is no token, nobody looks at a credential. @throws Refusal `unauthorized`, `forbidden`, `rate_limited`. */
  private async tokenHolder(request: Request): Promise<Caller> {
    const { token } = this.settings;
    if (token === undefined) return selfHostedCaller;
    const signedIn = await this.sessions.of(request);
    if (signedIn !== null) return signedIn;
    if (equalTexts(bearerOf(request.headers.authorization, 'token'), token)) return selfHostedCaller;
    const message = 'The bearer token is not the one this service was configured with.';
    throw this.failures.refusal(networkOf(request), message);
  }

  /**
   * A demo deployment ignores credentials: each network that calls it acts through an account of its own (decision 21). It is a subnet, since
   * those of one account see what the others made.
   * Of any other deployment only its owner learns that it exists: to all others it is answered, and counted, as one that does not.
   */
  private async onDeployment(request: Request, id: string, scope: Scope, countedAs: CountedAs): Promise<Identity> {
    const deployment = await this.deploymentOf(request, id, scope);
    if (deployment?.demo) {
      this.limits.takeByAddress(request, countedAs);
      if (deployment.ownerSuspended) throw new Refusal('forbidden', OUT_OF_SERVICE);
      return { caller: await this.demos.of(id, subnetOfAddress(addressOf(request)), scope), demo: true };
    }
    const network = networkOf(request);
    const caller = await this.keyHolder(request).catch((error: unknown) => {
      // Who does not prove to be anyone has asked for a deployment, whether or not there is one.
      throw error instanceof Refusal ? this.failures.instead(network, error) : error;
    });
    const isOwner = deployment?.accountId === caller.accountId;
    const refusal = isOwner ? null : this.failures.instead(network, noDeployment(id));
    this.limits.take(request, caller, countedAs);
    if (refusal !== null) throw refusal;
    return { caller, demo: false };
  }

  /** A lookup of what may not exist is limited as one of a key: anyone can make ids up. */
  private async deploymentOf(request: Request, id: string, scope: Scope): Promise<Deployment | null> {
    const lookUp = (): Promise<Deployment | null> => this.lookUp(request, id, scope);
    return this.deployments.wasFound(id) ? lookUp() : this.failures.lookUp(networkOf(request), lookUp, 0);
  }

  /** Of a deleted deployment its jobs are left until they expire: it is there for requests that read, and for no others. */
  private lookUp({ method }: Request, id: string, scope: Scope): Promise<Deployment | null> {
    const reads = (method === 'GET' || method === 'HEAD') && scope.endsWith(':read');
    return reads ? this.deployments.findForReads(id) : this.deployments.find(id);
  }
}

/**
 * What is on a surface is found by its scope, labels included. All else is the account's: no sub-key gets there, except where the
 * endpoint says that it goes by the labels, too.
 *
 * @throws Refusal `forbidden`.
 */
function assertAdmits(access: Extract<Access, { scope: Scope }>, { labels }: Caller): void {
  if (labels === null || access.by === 'surface' || access.subKeys === true) return;
  const message = `This API key is for jobs with the labels ${labelsText(labels)} alone; use a key of the account for this.`;
  throw new Refusal('forbidden', message, { details: { labels } });
}

function visitorOf(request: Request, caller: Caller, demo: boolean): Visitor {
  const { requestId, surface } = contextOf(request);
  const { kind, deploymentId } = surface;
  const { accountId, labels } = caller;
  return { caller, scope: { accountId, surface: kind, deploymentId, labels }, surface, demo, requestId };
}
