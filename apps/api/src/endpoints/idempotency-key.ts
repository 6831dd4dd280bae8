import { createHash } from 'node:crypto';
import type { Request } from 'express';
import type { Caller } from '@millrace/accounts';
import { IDEMPOTENCY_KEY, Refusal } from '@millrace/contracts';

/** How the claimed key of a sub-key begins. */
const OF_SUB_KEY = /^[\w-]{43} /;

/**
 * A caller's key as it is claimed: keys of a sub-key are its own, so that they neither meet nor reveal those of others. A key of the
 * account that looks like such a one is claimed with a space before it, as no key begins.
 */
export function claimedKey(caller: Pick<Caller, 'labels'> | undefined, key: string | undefined): string | undefined {
  const labels = caller?.labels ?? null;
  if (key === undefined) return undefined;
  if (labels === null) return OF_SUB_KEY.test(key) ? ` ${key}` : key;
  const whose = JSON.stringify(Object.entries(labels).sort());
  return `${createHash('sha256').update(whose).digest('base64url')} ${key}`;
}

/** The key that a request presents, if any. @throws Refusal `invalid_request` when it is no key. */
export function idempotencyKeyOf(request: Request): string | undefined {
  const key = request.get('Idempotency-Key');
  // Node joins a repeated header into one text.
  const isOne = key?.includes(', ') !== true || request.headersDistinct['idempotency-key']?.length === 1;
  if (key === undefined || (isOne && IDEMPOTENCY_KEY.test(key))) return key;
  const reason = 'must be one key of 1 to 255 printable ASCII characters, e.g. a UUID';
  throw Refusal.ofFields([{ field: 'Idempotency-Key', reason }]);
}
