import { useQueryClient } from '@tanstack/react-query';
import { sessionQuery, signOut } from '../api/session';
import { notifyError } from '../ui/display/notices';

/** Forget a session that has ended, and all that was read with it: the shell shows the sign-in. */
export function useForgetSession(): () => void {
  const client = useQueryClient();
  return () => {
    // The session stays a known query: the shell reads it.
    client.setQueryData(sessionQuery.queryKey, null);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
  };
}

/** End the session, and forget it. */
export function useSignOut(): (where: 'here' | 'everywhere') => void {
  const forget = useForgetSession();
  return (where) => {
    signOut(where).then(forget, (error: unknown) => notifyError('Signing out failed', error));
  };
}
