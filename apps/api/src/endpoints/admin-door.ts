import type { Request } from 'express';
import { bearerOf, type Operator } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';
import { equalTexts } from './callers';
import { addressOf } from '../http/client-address';
import type { Door, InputOf } from './endpoint';

/** What a handler of the admin API knows of its caller. */
export interface AdminCaller {
  /** Who acts, for the audit log. */
  operator: Operator;
}

/** What a handler of this endpoint gets. */
export type AdminInput<E> = AdminCaller & InputOf<E>;

/** The door of the admin API: the one admin token. */
export class AdminDoor implements Door<AdminCaller> {
  constructor(private readonly adminToken: string | undefined) {}

  /** @throws Refusal 401 `unauthorized`, or 403 `forbidden` when no admin token is configured at all. */
  async admit(request: Request): Promise<AdminCaller> {
    if (this.adminToken === undefined) {
      throw new Refusal('forbidden', 'The admin API is off: MILLRACE_ADMIN_TOKEN is not set on this process.');
    }
    if (!equalTexts(bearerOf(request.headers.authorization, 'admin token'), this.adminToken)) {
      throw new Refusal('unauthorized', 'The bearer token is not the admin token.');
    }
    return { operator: { actor: 'admin', address: addressOf(request) } };
  }
}
