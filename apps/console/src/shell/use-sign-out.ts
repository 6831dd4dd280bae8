import { useMutation, useQueryClient } from '@tanstack/react-query';
import { sessionQuery, signOut } from '../api/session';
import { notifyError } from '../ui/display/notices';

/** Forget a session that has ended: the shell shows the sign-in. */
export function useForgetSession(): () => void {
  const client = useQueryClient();
  return () => {
    client.setQueryData(sessionQuery.queryKey, null);
  };
}

/** End the session, and forget it. */
export function useSignOut(): (where: 'here' | 'everywhere') => void {
  const { mutate } = useMutation({
    mutationFn: signOut,
    onSuccess: useForgetSession(),
    onError: (error) => notifyError('Signing out failed', error),
  });
  return mutate;
}
