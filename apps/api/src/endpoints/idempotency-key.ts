import type { Request } from 'express';
import { IDEMPOTENCY_KEY, Refusal } from '@millrace/contracts';

/** The key that a request presents, if any. @throws Refusal `invalid_request` when it is no key. */
export function idempotencyKeyOf(request: Request): string | undefined {
  // Node joins a repeated header with a comma and a space, and a space is no character of a key.
  const key = request.get('Idempotency-Key');
  if (key === undefined || IDEMPOTENCY_KEY.test(key)) return key;
  const reason = 'must be 1 to 255 visible ASCII characters, e.g. a UUID';
  throw Refusal.ofFields([{ field: 'Idempotency-Key', reason }]);
}
