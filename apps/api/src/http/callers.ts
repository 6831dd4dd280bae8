import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { bearerOf, type Authenticator, type Caller } from '@millrace/accounts';
import { Refusal, SCOPES } from '@millrace/contracts';
import type { JobScope } from '@millrace/jobs';
import { contextOf } from './request-context';

/** The account through which the self-hosted surface acts. */
export const SELF_HOSTED_ACCOUNT = '00000000-0000-7000-8000-000000000001';

/** Whoever sends a request, and where their jobs are found. */
export interface Visitor {
  caller: Caller;
  scope: JobScope;
}

/** Finds out who sends a request, by the rules of the surface it came to (contract, section 5). */
export class Callers {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly token: string | undefined,
  ) {}

  /** @throws Refusal 401 `unauthorized`. */
  async identify(request: Request): Promise<Visitor> {
    const { surface } = contextOf(request);
    const caller =
      surface.kind === 'self_hosted'
        ? this.selfHosted(request)
        : await this.authenticator.authenticate(request.headers.authorization);
    const { kind, deploymentId } = surface;
    return { caller, scope: { accountId: caller.accountId, surface: kind, deploymentId } };
  }

  private selfHosted(request: Request): Caller {
    if (this.token !== undefined && !equalTexts(bearerOf(request.headers.authorization), this.token)) {
      throw new Refusal('unauthorized', 'The bearer token is not the one this service was configured with.');
    }
    return selfHostedCaller;
  }
}

const selfHostedCaller: Caller = {
  accountId: SELF_HOSTED_ACCOUNT,
  apiKeyId: null,
  scopes: new Set(SCOPES),
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

/** Compare credentials in a time that tells nothing of either. */
export function equalTexts(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
