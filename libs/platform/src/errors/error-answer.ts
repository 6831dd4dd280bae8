import type { ErrorCode, ErrorEnvelope, Refusal } from '@millrace/contracts';
import { boundedError } from './bounded-error';

/** The body of an error answer. */
export function envelopeOf(code: ErrorCode, message: string, details?: Record<string, unknown>): ErrorEnvelope {
  return { error: details === undefined ? { code, message } : { code, message, details } };
}

/** Status, headers and body of the answer to a request that is refused. The body is below 64 KB. */
export function answerOf(refusal: Refusal): { status: number; headers: Record<string, string>; body: ErrorEnvelope } {
  const headers = { ...refusal.headers };
  if (refusal.retryAfterSeconds !== undefined) headers['Retry-After'] = String(refusal.retryAfterSeconds);
  if (refusal.status === 401) headers['WWW-Authenticate'] = 'Bearer';
  return {
    status: refusal.status,
    headers,
    body: boundedError(envelopeOf(refusal.code, refusal.message, refusal.details)),
  };
}
