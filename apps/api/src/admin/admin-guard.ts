import type { Request } from 'express';
import { bearerOf, type Operator } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { equalTexts } from '../http/callers';

/** Lets operators in, by the one admin token. */
export class AdminGuard {
  constructor(private readonly adminToken: string | undefined) {}

  /** @throws Refusal 401 `unauthorized`, or 403 when no admin token is configured at all. */
  admit(request: Request): Operator {
    if (this.adminToken === undefined) {
      throw new Refusal('forbidden', 'The admin API is off: MILLRACE_ADMIN_TOKEN is not set on this process.');
    }
    if (!equalTexts(bearerOf(request.headers.authorization), this.adminToken)) {
      throw new Refusal('unauthorized', 'The bearer token is not the admin token.');
    }
    return { actor: 'admin', address: request.socket.remoteAddress ?? null };
  }
}
