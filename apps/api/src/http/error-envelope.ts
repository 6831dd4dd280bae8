import { STATUS_CODES } from 'node:http';
import type { ErrorEnvelope } from '@millrace/contracts';
import { envelopeOf } from '@millrace/platform';

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
