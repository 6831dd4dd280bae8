import type { ServerResponse } from 'node:http';
import { whenClosed } from '@millrace/platform';
import { contextOf } from '../request-context';

/** Larger answers are written as fast as the client takes them, and count as in flight meanwhile. */
export const LARGE_ANSWER_CHARACTERS = 262_144;

/**
 * Count bytes of a request's body, or of its large answer, until the client has taken the answer or is gone.
 *
 * @throws Refusal `rate_limited` while too many are in flight.
 */
export function holdBytes(request: object, bytes: number): void {
  // Only the first hold that counts makes the release of all.
  if (bytes === 0) return;
  const context = contextOf(request);
  const { bodies, payer } = context;
  bodies.take(payer, bytes);
  context.heldBytes += bytes;
  if (context.heldBytes > bytes) return;
  // Who pays is known before the first byte is read, and stays the same.
  const release = (): void => bodies.release(payer, context.heldBytes);
  const { res: response } = request as { res?: ServerResponse };
  if (response === undefined || response.closed) release();
  else whenClosed(response, release);
}
