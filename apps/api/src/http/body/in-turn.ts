import { contextOf } from '../request-context';

/** Smaller bodies cost about as much as any request. */
const LARGE_BODY_BYTES = 65_536;

/**
 * Do what a request's body asks for: at once when it is small, else when the other large requests of its account have been done.
 *
 * @throws Refusal `rate_limited` when too many wait; what `work` throws.
 */
export function inTurn<T>(request: object, body: Uint8Array, work: () => Promise<T>): Promise<T> {
  if (body.byteLength <= LARGE_BODY_BYTES) return work();
  const { bodies, payer } = contextOf(request);
  return bodies.turns.run(payer, work);
}
