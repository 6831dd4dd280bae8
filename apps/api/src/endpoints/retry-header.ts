import type { Request } from 'express';
import { ParseError, Token, parseDictionary, type Dictionary, type InnerList, type Item } from 'structured-headers';
import { RETRY_CODES, RETRY_LIMITS, Refusal, RetryPolicySchema, type RetryPolicy } from '@millrace/contracts';
import type { DescribedParameter } from './described';

const NAME = 'Millrace-Retry';
const KEYS = ['max', 'on', 'pause'];

export const RETRY_HEADER: DescribedParameter = {
  name: NAME,
  in: 'header',
  required: false,
  description:
    'Which failures of the job are tried again: a dictionary of RFC 9651. `max`: retries at most, ' +
    `0 to ${RETRY_LIMITS.retries}; 0 turns a default of the account off. \`on\`: codes of \`job.error\`, of ` +
    `${RETRY_CODES.map((code) => `\`${code}\``).join(', ')}. \`pause\`: seconds before each retry, 0 to ` +
    `${RETRY_LIMITS.pauseSeconds}; ${RETRY_LIMITS.defaultPauseSeconds} where it is absent.`,
  schema: { type: 'string', examples: ['max=2, on=(engine_error worker_lost), pause=30'] },
};

/**
 * The retry policy that a submission asks for.
 *
 * @returns null: none; undefined: the submission does not say it, and the default of its account applies.
 * @throws Refusal `invalid_request`.
 */
export function retryPolicyOf(request: Request): RetryPolicy | null | undefined {
  const text = request.get(NAME);
  if (text === undefined) return undefined;
  const dictionary = dictionaryOf(text);
  const unknown = [...dictionary.keys()].find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw refusal(`knows ${KEYS.join(', ')}, and not ${unknown}`);
  const [max, on, pause] = KEYS.map((key) => valueOf(dictionary.get(key)));
  if (max === 0 && on === undefined && pause === undefined) return null;
  const read = RetryPolicySchema.safeParse({ max, on, pause_seconds: pause });
  if (read.success) return read.data;
  throw refusal(reasonOf(read.error.issues[0]?.path[0]));
}

function dictionaryOf(text: string): Dictionary {
  try {
    return parseDictionary(text);
  } catch (error) {
    if (error instanceof ParseError) throw refusal('is not a dictionary as RFC 9651 writes it');
    throw error;
  }
}

/** A bare value; of an inner list the names of its tokens. Parameters are ignored, as the RFC suggests. */
function valueOf(member: Item | InnerList | undefined): unknown {
  if (member === undefined) return undefined;
  const [value] = member;
  if (!Array.isArray(value)) return value;
  return value.map(([item]) => (item instanceof Token ? item.toString() : item));
}

function reasonOf(field: PropertyKey | undefined): string {
  if (field === 'max') return `needs max, the number of retries: 1 to ${RETRY_LIMITS.retries}, or 0 alone for none`;
  if (field === 'on') return `needs on, a list of codes: on=(${RETRY_CODES.join(' ')}), or fewer of them`;
  return `takes a pause of 0 to ${RETRY_LIMITS.pauseSeconds} whole seconds`;
}

function refusal(reason: string): Refusal {
  return Refusal.ofFields([{ field: NAME, reason: `${reason}; e.g. max=2, on=(engine_error worker_lost), pause=30` }]);
}
