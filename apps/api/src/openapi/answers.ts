import type { z } from 'zod';
import { ERROR_CATALOGUE, ErrorEnvelopeSchema, INVALID_REQUEST, type ErrorCode } from '@millrace/contracts';
import { headerRef, refTo } from './components';
import type { Header, Operation, Reference, ResponseObject } from './openapi-types';

/** An error of an operation; `invalid_request` comes with three meanings. */
export type ErrorName = Exclude<ErrorCode, 'invalid_request'> | 'unreadable_request' | 'invalid_field' | 'late_body';

/** What every operation with a body can answer. */
export const BODY_ERRORS: ErrorName[] = ['invalid_field', 'payload_too_large', 'unsupported_media_type', 'late_body'];

/** What every operation can answer. */
const EVERYWHERE: ErrorName[] = ['unreadable_request', 'upstream_error'];
/** What every operation that asks for a credential can answer. */
const BEHIND_CREDENTIAL: ErrorName[] = [...EVERYWHERE, 'unauthorized', 'forbidden', 'rate_limited'];

/** An answer with a JSON body. */
export function jsonAnswer(
  description: string,
  schema: z.ZodType,
  headers: Record<string, Header | Reference> = {},
): ResponseObject {
  return { ...emptyAnswer(description, headers), content: { 'application/json': { schema: refTo(schema) } } };
}

/** An answer without a body. */
export function emptyAnswer(description: string, headers: Record<string, Header | Reference> = {}): ResponseObject {
  return { description, headers: { 'X-Request-Id': headerRef('RequestId'), ...headers } };
}

/** Requests are counted as soon as it is known who sends them: every later answer tells what is left. */
export function withRateLimits(operation: Operation): Operation {
  const limits = { 'RateLimit-Policy': headerRef('RateLimitPolicy'), RateLimit: headerRef('RateLimit') };
  const responses = Object.entries(operation.responses).map(([status, response]): [string, ResponseObject] =>
    status === '401' ? [status, response] : [status, { ...response, headers: { ...response.headers, ...limits } }],
  );
  return { ...operation, responses: Object.fromEntries(responses) };
}

/** The error answers of an operation that asks for a credential: its own, and those that all of them have. */
export function errorsBehindCredential(...names: ErrorName[]): Record<string, ResponseObject> {
  return errorAnswers([...BEHIND_CREDENTIAL, ...names]);
}

/** The error answers of an operation that anybody may call. */
export function openErrors(...names: ErrorName[]): Record<string, ResponseObject> {
  return errorAnswers([...EVERYWHERE, ...names]);
}

/** Errors by status; codes that share one are told apart by `error.code`. */
function errorAnswers(names: ErrorName[]): Record<string, ResponseObject> {
  const byStatus = new Map<number, string[]>();
  for (const name of names) {
    const { code, status, cause } = factsOf(name);
    byStatus.set(status, [...(byStatus.get(status) ?? []), `\`${code}\`: ${cause}`]);
  }
  return Object.fromEntries([...byStatus].map(([status, causes]) => [String(status), errorAnswer(status, causes)]));
}

function errorAnswer(status: number, causes: string[]): ResponseObject {
  const headers: Record<string, Reference> = status === 429 ? { 'Retry-After': headerRef('RetryAfter') } : {};
  return jsonAnswer(causes.join('\n\n'), ErrorEnvelopeSchema, headers);
}

function factsOf(name: ErrorName): { code: ErrorCode; status: number; cause: string } {
  if (name === 'unreadable_request') {
    return { code: 'invalid_request', status: 400, cause: 'The request cannot be read.' };
  }
  if (name === 'invalid_field') return { code: 'invalid_request', status: 422, cause: INVALID_REQUEST.cause };
  if (name === 'late_body') {
    return { code: 'invalid_request', status: 408, cause: 'The rest of the body did not arrive in time.' };
  }
  const { status, cause } = ERROR_CATALOGUE[name];
  return { code: name, status, cause };
}
