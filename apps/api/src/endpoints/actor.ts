import type { Request } from 'express';
import type { Caller, Operator } from '@millrace/accounts';
import { addressOf } from '../http';

/** A caller as the one who acts, for the audit log. */
export function actorOf(
  { apiKeyId, memberId, sessionId }: Pick<Caller, 'apiKeyId' | 'memberId' | 'sessionId'>,
  request: Request,
): Operator {
  const key = apiKeyId === null ? 'self_hosted' : `api_key:${apiKeyId}`;
  return {
    actor: memberId !== undefined && sessionId !== undefined ? `member:${memberId}` : key,
    address: addressOf(request),
  };
}
