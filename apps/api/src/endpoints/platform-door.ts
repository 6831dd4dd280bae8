import type { Request } from 'express';
import type { Caller, KeyIssuer } from '@millrace/accounts';
import type { Callers } from './callers';
import { addressOf } from '../http/client-address';
import type { Door, Endpoint, InputOf } from './endpoint';

/** Who uses the platform API: an account, through one of its keys. */
export interface PlatformCaller {
  caller: Caller;
  /** The key as the one who acts, for the audit log. */
  issuer: KeyIssuer;
}

/** What a handler of this endpoint gets. */
export type PlatformInput<E> = PlatformCaller & InputOf<E>;

/** The door of the platform API: an API key with the scope that the endpoint names. */
export class PlatformDoor implements Door<PlatformCaller> {
  constructor(private readonly callers: Callers) {}

  /** @throws Refusal `unauthorized`, `forbidden`, `rate_limited`. */
  async admit(request: Request, { id, scope }: Endpoint): Promise<PlatformCaller> {
    if (scope === undefined) throw new Error(`the endpoint ${id} of the platform API names no scope`);
    const caller = await this.callers.admitKey(request, scope);
    const actor = caller.apiKeyId === null ? 'self_hosted' : `api_key:${caller.apiKeyId}`;
    return { caller, issuer: { actor, address: addressOf(request), grantable: caller.scopes } };
  }
}
