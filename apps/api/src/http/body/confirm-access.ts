import { contextOf } from '../request-context';

/** A key is cached for as long, so asking sooner would bring nothing new. */
const UNCONFIRMED_MS = 3_000;

/**
 * Ask again whether the sender of a request still has access, when its body took long: an upload may arrive for hours after its
 * guard let it in, and its key be revoked meanwhile.
 *
 * @param beganAtMs when the reading began, on the clock of `performance.now()`.
 * @throws Refusal as the guard of the endpoint does.
 */
export async function confirmAccess(request: object, beganAtMs: number): Promise<void> {
  if (performance.now() - beganAtMs >= UNCONFIRMED_MS) await contextOf(request).confirm();
}
