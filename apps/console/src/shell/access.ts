import type { Scope } from '@millrace/contracts';

/** The key of a session; its id is null where there are no keys: on a self-hosted surface. */
interface SessionKey {
  id: string | null;
  scopes: Scope[];
}

/** What a place asks of a session. */
export interface Demands {
  /** Only a session with this scope can do something there. */
  scope?: Scope;
  /** Only where there are keys: a surface without has no members either. */
  keyed?: true;
}

export function isOpen({ scope, keyed }: Demands, key: SessionKey): boolean {
  return (scope === undefined || key.scopes.includes(scope)) && (!keyed || key.id !== null);
}

/**
 * Whether a link changes nothing for who is signed in: in its account already, without a key or a member that could be another.
 *
 * @param session of this browser. Null: none.
 * @param offer of the link. Undefined: it could not be read.
 */
export function leavesNothing(
  session: { account: { id: string }; key: Pick<SessionKey, 'id'> } | null,
  offer: { account: { id: string } } | undefined,
): boolean {
  return session !== null && session.key.id === null && session.account.id === offer?.account.id;
}
