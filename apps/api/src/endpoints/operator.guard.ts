import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { FailedAttempts, bearerOf } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { addressOf, networkOf } from '../http';
import { equalTexts } from './equal-texts';
import { admit } from './visitor';

/** Lets in who presents the one admin token. */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(
    private readonly failures: FailedAttempts,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'adminToken'>,
  ) {}

  /**
   * @throws Refusal 401 `unauthorized`, 429 `rate_limited` after too many wrong ones, or 403 `forbidden` when no admin token is
   * configured at all.
   */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const { adminToken } = this.settings;
    if (adminToken === undefined) {
      throw new Refusal('forbidden', 'The admin API is off: MILLRACE_ADMIN_TOKEN is not set on this process.');
    }
    if (!equalTexts(bearerOf(request.headers.authorization, 'admin token'), adminToken)) {
      throw this.failures.refusal(networkOf(request), 'The bearer token is not the admin token.');
    }
    admit(request, { operator: { actor: 'admin', address: addressOf(request) } });
    return true;
  }
}
