import { useState, type ReactNode } from 'react';
import { Caution } from './caution';

/**
 * Whether the session that this page had has ended by itself. Signing out is no such end: it forgets the session before it asks for one.
 *
 * @param session null: there is none. Undefined: that is not known.
 */
export function useEnded(session: object | null | undefined): boolean {
  const [held, setHeld] = useState(false);
  const holds = session === null ? held : session !== undefined;
  if (holds !== held) setHeld(holds);
  return session === null && held;
}

/** Over the form that signs in again. The address stays, so that the same screen follows. */
export function SessionEnded(): ReactNode {
  return (
    <div role="alert">
      <Caution>
        Your session has ended. Nothing was done that had not been sent before. When you sign in, you go on at the same
        place.
      </Caution>
    </div>
  );
}
