import type { Caller } from '@millrace/accounts';
import { Refusal } from '@millrace/contracts';

/**
 * Who sets and lifts caps, of those who have the scope `credits:write`: a member who is signed in, and a key that manages keys, too. A key that was
 * made to buy credits is neither: it would lift the cap that it is under.
 *
 * @throws Refusal `forbidden`.
 */
export function assertSetsCaps({ scopes, memberId, sessionId }: Caller): void {
  const isPerson = memberId !== undefined && sessionId !== undefined;
  if (isPerson || scopes.has('keys:admin')) return;
  throw new Refusal(
    'forbidden',
    'Spend caps are set by owners and finance members who are signed in, and with keys that have the scopes `credits:write` and `keys:admin`: this key has no `keys:admin`.',
  );
}
