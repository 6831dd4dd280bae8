import type { Request } from 'express';
import { Refusal } from '@millrace/contracts';
import type { DescribedParameter } from './described';

const NAME = 'Millrace-Spend-Limit-Micros';

export const SPEND_LIMIT_HEADER: DescribedParameter = {
  name: NAME,
  in: 'header',
  required: false,
  description:
    'The most that a job submitted by this request may cost, in micro-credits. It is refused when more is held for it, and a running ' +
    'job that reaches the limit is stopped with `credits_exhausted`.',
  schema: { type: 'string', pattern: '^\\d{1,15}$', examples: ['2000000'] },
};

/**
 * The most that a job of this request may cost, in micro-credits.
 *
 * @returns undefined where the request does not say it.
 * @throws Refusal `invalid_request`.
 */
export function spendLimitOf(request: Request): bigint | undefined {
  const text = request.get(NAME);
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return BigInt(text);
  throw Refusal.ofFields([{ field: NAME, reason: 'must be a whole number of micro-credits, of at most 15 digits' }]);
}
