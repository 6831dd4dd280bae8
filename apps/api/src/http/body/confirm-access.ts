import { contextOf } from '../request-context';

/** What is known of a key is up to 3 s old when its guard asks: with this, nothing is done with rights that ended 5 s ago. */
const UNCONFIRMED_MS = 2_000;

/**
 * Ask again whether the sender of a request still has access, when its body took long: an upload may arrive for hours after its
 * guard let it in, and its key be revoked meanwhile. The visitor, or the operator, then has the rights of now.
 *
 * @param beganAtMs when the reading began, on the clock of `performance.now()`.
 * @throws Refusal as the guard of the endpoint does.
 */
export async function confirmAccess(request: object, beganAtMs: number): Promise<void> {
  if (performance.now() - beganAtMs >= UNCONFIRMED_MS) await contextOf(request).confirm();
}
