import type { ServerResponse } from 'node:http';
import { contextOf } from '../request-context';
import { HeldBytes } from './held-bytes';

/** Larger answers are written as fast as the client takes them, and count as in flight meanwhile. */
export const LARGE_ANSWER_CHARACTERS = 262_144;

/**
 * Count bytes of a request's body, or of its large answer, for as long as they are in memory (`HeldBytes`).
 *
 * @throws Refusal `rate_limited` while too many are in flight.
 */
export function holdBytes(request: object, bytes: number): void {
  if (bytes > 0) heldBytesOf(request).take(bytes);
}

/** What a request has in memory. Made with the first of it: who pays is known before the first byte is read, and stays the same. */
export function heldBytesOf(request: object): HeldBytes {
  const context = contextOf(request);
  return (context.held ??= new HeldBytes(context.bodies, context.payer, responseOf(request)));
}

/** Have what a request has in memory count with the polls (`BodiesInFlight.polls`). Before the first of it. */
export function countAsPoll(request: object): void {
  const context = contextOf(request);
  context.held ??= new HeldBytes(context.bodies.polls, context.payer, responseOf(request));
}

function responseOf(request: object): ServerResponse | undefined {
  return (request as { res?: ServerResponse }).res;
}
