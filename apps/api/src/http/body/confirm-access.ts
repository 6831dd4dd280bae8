import { contextOf } from '../request-context';

/** What is known of a key is up to 3 s old when its guard asks: with this, nothing is done with rights that ended 5 s ago. */
const UNCONFIRMED_MS = 2_000;

/**
 * Ask again whether the sender of a request still has access, when that was last asked two seconds ago or more: an upload may arrive for
 * hours after its guard let it in, a large body waits for its turn, and its key be revoked meanwhile. The visitor, or the operator, then has
 * the rights of now.
 *
 * @throws Refusal as the guard of the endpoint does.
 */
export async function confirmAccess(request: object): Promise<void> {
  const context = contextOf(request);
  const now = performance.now();
  if (now - context.confirmedAtMs < UNCONFIRMED_MS) return;
  await context.confirm();
  context.confirmedAtMs = now;
}

/** Have `confirmAccess` ask for more: what a request is to do may be known only once its body was read. @param check throws a Refusal. */
export function confirmAlso(request: object, check: () => void): void {
  const context = contextOf(request);
  const { confirm } = context;
  context.confirm = async () => {
    await confirm();
    check();
  };
}
