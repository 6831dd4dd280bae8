import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import {
  FailedAttempts,
  OperatorSessionsService,
  OperatorTokensService,
  RefusalLog,
  bearerOf,
  type NamedOperator,
  type OperatorSession,
} from '@millrace/accounts';
import { Refusal, roleCovers } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { addressOf, networkOf } from '../http';
import type { Access } from './access';
import { OPERATOR_COOKIE, assertSentByConsole, sessionCookieOf } from './callers';
import { equalTexts } from './equal-texts';
import { REASON_HEADER, reasonOf } from './reason-header';
import { endpointOf } from './served-endpoints';
import { admit, type AdmittedOperator } from './visitor';

/** Lets in operators whose role the endpoint asks for. */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(
    private readonly failures: FailedAttempts,
    private readonly sessions: OperatorSessionsService,
    private readonly tokens: OperatorTokensService,
    private readonly refusals: RefusalLog,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'adminToken'>,
  ) {}

  /**
   * @throws Refusal 401 `unauthorized`; 429 `rate_limited` after too many wrong credentials; 403 `forbidden` for another role, for
   * a session that another page made the browser send, and for an admin token where none is configured; 400 `invalid_request` where the
   * reason is missing or malformed.
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const { access } = endpointOf(context.getHandler());
    if (access.by !== 'operator') throw new Error(`no operator comes by ${access.by}`);
    const operator = await this.identify(request, access);
    admit(request, { operator }, async () => {
      Object.assign(operator, await this.identify(request, access));
    });
    return true;
  }

  private async identify(request: Request, access: Extract<Access, { by: 'operator' }>): Promise<AdmittedOperator> {
    const session = await this.sessionOf(request);
    const named = session === null ? await this.ofToken(request) : session.named;
    const actor = named?.actor ?? 'admin';
    const operator = { actor, address: addressOf(request), reason: reasonOf(request), named, session };
    assertMay(operator, access);
    return operator;
  }

  /** Null where the request presents none, or an Authorization header, which alone counts then. */
  private async sessionOf(request: Request): Promise<OperatorSession | null> {
    const secret = request.headers.authorization === undefined ? sessionCookieOf(request, OPERATOR_COOKIE) : null;
    if (secret === null) return null;
    assertSentByConsole(request);
    return this.sessions.authenticate(secret, networkOf(request));
  }

  /** Null for the shared admin token. */
  private async ofToken(request: Request): Promise<NamedOperator | null> {
    const { adminToken } = this.settings;
    const { authorization } = request.headers;
    const text = bearerOf(authorization, adminToken === undefined ? 'operator token' : 'admin token');
    if (this.tokens.isOne(text)) {
      const { id, name, role } = await this.tokens.authenticate(text, networkOf(request));
      return { actor: `token:${name}`, role, tokenId: id };
    }
    if (adminToken === undefined) throw off();
    if (equalTexts(text, adminToken)) return null;
    this.refusals.note(WRONG_TOKEN, networkOf(request));
    throw this.failures.refusal(
      networkOf(request),
      'The bearer token is neither the admin token nor an operator token.',
    );
  }
}

const WRONG_TOKEN = {
  action: 'admin_token.refuse',
  subjectType: 'operators',
  subjectId: 'operators',
  accountId: null,
};

function off(): Refusal {
  const message =
    'MILLRACE_ADMIN_TOKEN is not set on this process: the admin API takes operator tokens and sessions alone.';
  return new Refusal('forbidden', message);
}

/** @throws Refusal `forbidden`, `invalid_request`. */
function assertMay(
  { named, reason }: AdmittedOperator,
  { role, reason: why }: Extract<Access, { by: 'operator' }>,
): void {
  if (named === null) return;
  if (!roleCovers(named.role, role)) {
    const message = `This needs the role ${role}, and ${named.actor} has the role ${named.role}; an admin can give another.`;
    throw new Refusal('forbidden', message);
  }
  if (why && reason === null) {
    const cure = 'is required here, for the audit log: say in a few words why you do this, such as a ticket';
    throw Refusal.ofFields([{ field: REASON_HEADER.name, reason: cure }], 400);
  }
}
