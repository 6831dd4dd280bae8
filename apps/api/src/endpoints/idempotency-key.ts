import { createHash } from 'node:crypto';
import type { Request } from 'express';
import type { Caller } from '@millrace/accounts';
import { IDEMPOTENCY_KEY, Refusal } from '@millrace/contracts';

/**
 * A caller's key as it is claimed: keys of a sub-key are its own, so that they neither meet nor reveal those of others. No request can
 * present such a key itself: a space is no character of a key.
 */
export function claimedKey(caller: Pick<Caller, 'labels'> | undefined, key: string | undefined): string | undefined {
  const labels = caller?.labels ?? null;
  if (key === undefined || labels === null) return key;
  const whose = JSON.stringify(Object.entries(labels).sort());
  return `${createHash('sha256').update(whose).digest('base64url')} ${key}`;
}

/** The key that a request presents, if any. @throws Refusal `invalid_request` when it is no key. */
export function idempotencyKeyOf(request: Request): string | undefined {
  // Node joins a repeated header with a comma and a space, and a space is no character of a key.
  const key = request.get('Idempotency-Key');
  if (key === undefined || IDEMPOTENCY_KEY.test(key)) return key;
  const reason = 'must be 1 to 255 visible ASCII characters, e.g. a UUID';
  throw Refusal.ofFields([{ field: 'Idempotency-Key', reason }]);
}
