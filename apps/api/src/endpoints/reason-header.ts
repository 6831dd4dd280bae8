import type { Request } from 'express';
import { Refusal } from '@millrace/contracts';
import type { DescribedParameter } from './described';

const NAME = 'Millrace-Reason';
const CHARACTERS = 500;

export const REASON_HEADER: DescribedParameter = {
  name: NAME,
  in: 'header',
  required: false,
  description:
    'Why this is done, such as a ticket, percent-encoded (UTF-8). It is kept with the act in the audit log, where the account that it concerns reads it. Operators who are ' +
    'known by name must say it where customers’ money, keys, jobs or access are concerned.',
  schema: { type: 'string', minLength: 1, maxLength: CHARACTERS, examples: ['Ticket%204711'] },
};

/**
 * Why an operator does what a request asks for.
 *
 * @returns null where the request does not say it.
 * @throws Refusal `invalid_request`.
 */
export function reasonOf(request: Request): string | null {
  const text = request.get(NAME);
  if (text === undefined) return null;
  const reason = decoded(text).trim();
  if (reason.length === 0 || reason.length > CHARACTERS) throw refusal(`must have 1 to ${CHARACTERS} characters`);
  if (reason.includes('\0')) throw refusal('must not have NUL (%00), which cannot be stored');
  return reason;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refusal('must be percent-encoded UTF-8: write %25 for a percent sign');
  }
}

function refusal(reason: string): Refusal {
  return Refusal.ofFields([{ field: NAME, reason }], 400);
}
