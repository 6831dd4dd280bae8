import type { Request } from 'express';
import type { Caller, Operator } from '@millrace/accounts';
import { addressOf } from '../http';

/** A caller as the one who acts, for the audit log. */
export function actorOf({ apiKeyId }: Pick<Caller, 'apiKeyId'>, request: Request): Operator {
  return { actor: apiKeyId === null ? 'self_hosted' : `api_key:${apiKeyId}`, address: addressOf(request) };
}
