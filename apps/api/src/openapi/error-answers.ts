import { ERROR_CATALOGUE, ErrorEnvelopeSchema, INVALID_REQUEST, type ErrorCode } from '@millrace/contracts';
import type { Access, Endpoint, ErrorName } from '../endpoints';
import { headerRef } from './headers';
import type { ResponseObject } from './openapi-types';
import { refTo } from './schemas';

/** Errors of every endpoint with a JSON body. */
const BODY_ERRORS: ErrorName[] = ['invalid_field', 'payload_too_large', 'unsupported_media_type', 'late_body'];
/** Errors of every endpoint. */
const EVERYWHERE: ErrorName[] = ['unreadable_request', 'upstream_error'];
/** Errors of every endpoint that requires a credential. */
const BEHIND_CREDENTIAL: ErrorName[] = [...EVERYWHERE, 'unauthorized', 'forbidden', 'rate_limited'];
/** Errors of every endpoint that the console calls with its session. */
const BEHIND_SESSION: ErrorName[] = [...BEHIND_CREDENTIAL, 'another_account'];

const ACCESS_ERRORS: Record<Access['by'], ErrorName[]> = {
  // A deployment that is not the caller's is not found.
  surface: [...BEHIND_SESSION, 'not_found'],
  api_key: BEHIND_SESSION,
  session: BEHIND_SESSION,
  operator: BEHIND_CREDENTIAL,
  signed_link: [...EVERYWHERE, 'rate_limited'],
  signed_body: [...EVERYWHERE, 'rate_limited'],
  nothing: [...EVERYWHERE, 'rate_limited'],
};

/** The error answers of an endpoint, by status. Errors with the same status differ in `error.code`. */
export function errorAnswers(endpoint: Endpoint): Record<string, ResponseObject> {
  const byStatus = new Map<number, string[]>();
  for (const name of new Set(errorsOf(endpoint))) {
    const { code, status, cause } = factsOf(name);
    byStatus.set(status, [...(byStatus.get(status) ?? []), `\`${code}\`: ${cause}`]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, causes]) => [String(status), errorAnswer(endpoint, status, causes)]),
  );
}

/** Those that follow from the definition, and those that it names. */
function errorsOf({ access, path, body, errors = [] }: Endpoint): ErrorName[] {
  const ofPath: ErrorName[] = path.includes('{') ? ['not_found'] : [];
  return [...ACCESS_ERRORS[access.by], ...ofPath, ...(body === undefined ? [] : BODY_ERRORS), ...errors];
}

/** An answer to HEAD has no body. */
function errorAnswer({ method }: Endpoint, status: number, causes: string[]): ResponseObject {
  return {
    description: causes.join('\n\n'),
    headers: {
      'X-Request-Id': headerRef('RequestId'),
      ...(status === 429 ? { 'Retry-After': headerRef('RetryAfter') } : {}),
    },
    ...(method === 'head' ? {} : { content: { 'application/json': { schema: refTo(ErrorEnvelopeSchema) } } }),
  };
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
