import type { Request } from 'express';
import { serializeItem, type BareItem } from 'structured-headers';
import { Refusal, ReuseSchema, type Reuse } from '@millrace/contracts';
import type { AnswerHeader, DescribedParameter } from './described';

const NAME = 'Millrace-Reuse';
const OFF = 'off';

export const REUSE_HEADER: DescribedParameter = {
  name: NAME,
  in: 'header',
  required: false,
  description:
    'With `exact`, an earlier job of the account that asked for exactly the same answers the submission with its outputs, and nothing ' +
    'runs. `off` turns a default of the account off.',
  schema: { type: 'string', enum: [...ReuseSchema.options, OFF] },
};

/** Of an answer to a submission that asked for reuse. */
export const REUSE_ANSWER: AnswerHeader = {
  description:
    'Where the submission asked for reuse: `reused`, or `run` with the `reason` why no earlier outputs answer it (an item of RFC 9651).',
  schema: { type: 'string', examples: ['run;reason="Not declared to be deterministic: LoadImageOutput."'] },
};

/**
 * Whether earlier outputs may answer this request.
 *
 * @returns null: they may not; undefined: the submission does not say it, and the default of its account applies.
 * @throws Refusal `invalid_request`.
 */
export function reuseOf(request: Request): Reuse | null | undefined {
  const text = request.get(NAME);
  if (text === undefined) return undefined;
  if (text === OFF) return null;
  const read = ReuseSchema.safeParse(text);
  if (read.success) return read.data;
  throw Refusal.ofFields([{ field: NAME, reason: `must be ${ReuseSchema.options.join(', ')} or ${OFF}` }]);
}

/** @throws Refusal `invalid_request` where the request asks for reuse. @param where a part of a sentence. */
export function assertNoReuse(request: Request, where: string): void {
  if (reuseOf(request) === 'exact') {
    throw Refusal.ofFields([{ field: NAME, reason: `${where} do not reuse earlier outputs; leave the header out` }]);
  }
}

/** Names and value of the header that says what came of it. @param reason null: earlier outputs answered it. */
export function reuseAnswer(reason: string | null): [string, string] {
  // A string of RFC 9651 is printable ASCII; names of classes need not be.
  const text = reason?.replace(/[^\x20-\x7e]/g, '?');
  return [NAME, text === undefined ? 'reused' : `run;reason=${serializeItem([text, new Map<string, BareItem>()])}`];
}
