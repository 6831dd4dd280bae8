import { createContext, useContext } from 'react';
import type { Scope } from '@millrace/contracts';
import type { Session } from '../api/session';

export const SessionContext = createContext<Session | null>(null);

/** The session, inside the shell. */
export function useSession(): Session & { may: (scope: Scope) => boolean } {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('There is no session outside of the shell.');
  return { ...session, may: (scope) => session.key.scopes.includes(scope) };
}
