import { useQueryClient } from '@tanstack/react-query';
import { sessionQuery, signOut } from '../api/session';
import { notifyError } from '../ui/notices';

/** End the session, and forget all that was read with it. */
export function useSignOut(): (where: 'here' | 'everywhere') => void {
  const client = useQueryClient();
  return (where) => {
    signOut(where).then(
      () => {
        // The session stays a known query: the shell reads it, and shows the sign-in.
        client.setQueryData(sessionQuery.queryKey, null);
        client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
      },
      (error: unknown) => notifyError('Signing out failed', error),
    );
  };
}
