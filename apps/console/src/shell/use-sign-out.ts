import { useQueryClient } from '@tanstack/react-query';
import { sessionQuery, signOut } from '../api/session';
import { notifyError } from '../ui/notices';

/** End the session, and forget all that was read with it. */
export function useSignOut(): (where: 'here' | 'everywhere') => void {
  const client = useQueryClient();
  return (where) => {
    signOut(where).then(
      () => {
        client.clear();
        client.setQueryData(sessionQuery.queryKey, null);
      },
      (error: unknown) => notifyError('Signing out failed', error),
    );
  };
}
