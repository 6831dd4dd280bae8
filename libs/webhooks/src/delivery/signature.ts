import { createHmac } from 'node:crypto';
import { secretBytes } from '../endpoints';

/**
 * The headers that name and sign a message (Standard Webhooks 1.0): one signature with each secret, so that a receiver verifies
 * with any of them while one replaces another.
 *
 * @param atMs when it is sent; receivers refuse what is old.
 */
export function signedHeaders(
  id: string,
  body: string,
  secrets: readonly string[],
  atMs: number = Date.now(),
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const signatures = secrets.map((secret) => {
    const signature = createHmac('sha256', secretBytes(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
    return `v1,${signature}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
