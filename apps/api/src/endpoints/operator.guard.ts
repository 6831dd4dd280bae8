import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { FailedAttempts, OperatorSessionsService, bearerOf, type OperatorSession } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { addressOf, networkOf } from '../http';
import { OPERATOR_COOKIE, assertSentByConsole, sessionCookieOf } from './callers';
import { equalTexts } from './equal-texts';
import { admit } from './visitor';

/** Lets in who presents the one admin token, or a session of the operators' console, which proved it. */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(
    private readonly failures: FailedAttempts,
    private readonly sessions: OperatorSessionsService,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'adminToken'>,
  ) {}

  /**
   * @throws Refusal 401 `unauthorized`, 429 `rate_limited` after too many wrong ones, or 403 `forbidden` when no admin token is
   * configured at all, and for a session that another page made the browser send.
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const { adminToken } = this.settings;
    if (adminToken === undefined) {
      throw new Refusal('forbidden', 'The admin API is off: MILLRACE_ADMIN_TOKEN is not set on this process.');
    }
    const session = await this.sessionOf(request);
    if (session === null) this.assertToken(request, adminToken);
    admit(request, { operator: { actor: 'admin', address: addressOf(request), session } });
    return true;
  }

  /** Null where the request presents none, or an Authorization header, which alone counts then. */
  private async sessionOf(request: Request): Promise<OperatorSession | null> {
    const secret = request.headers.authorization === undefined ? sessionCookieOf(request, OPERATOR_COOKIE) : null;
    if (secret === null) return null;
    assertSentByConsole(request);
    return this.sessions.authenticate(secret, networkOf(request));
  }

  private assertToken(request: Request, adminToken: string): void {
    if (equalTexts(bearerOf(request.headers.authorization, 'admin token'), adminToken)) return;
    throw this.failures.refusal(networkOf(request), 'The bearer token is not the admin token.');
  }
}
