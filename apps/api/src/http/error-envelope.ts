import { STATUS_CODES } from 'node:http';
import type { ErrorCode, ErrorEnvelope, Refusal } from '@millrace/contracts';
import { boundedError } from './bounded-error';

/** The body of an error answer. */
export function envelopeOf(code: ErrorCode, message: string, details?: Record<string, unknown>): ErrorEnvelope {
  return { error: details === undefined ? { code, message } : { code, message, details } };
}

/** Headers and body of a refusal. */
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

/** What is said of everything that is not the client's doing (contract, 7.2): nothing of its cause. */
export const UPSTREAM_ERROR = envelopeOf('upstream_error', 'The service could not complete this request. Try again.');

/** A whole HTTP/1.1 answer as text, for a connection on which no request could be read. */
export function rawAnswer(status: number, body: ErrorEnvelope, headers: Record<string, string>): string {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Date: ${new Date().toUTCString()}`,
    'Content-Type: application/json; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}
