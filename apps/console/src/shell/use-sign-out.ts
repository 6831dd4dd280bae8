import { useMutation, useQueryClient } from '@tanstack/react-query';
import { sessionQuery, signOut } from '../api/session';
import { notifyError } from '../ui/display/notices';

/** Forget a session that has ended. The shell asks for another one, or, where the service asks for nothing, opens it. */
export function useForgetSession(): () => void {
  const client = useQueryClient();
  return () => void client.resetQueries({ queryKey: sessionQuery.queryKey, exact: true });
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
