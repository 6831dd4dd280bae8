import { queryOptions } from '@tanstack/react-query';
import type { OperatorRole } from '@millrace/contracts';
import { ApiError } from '../../../src/api/api-error';
import { admin, sendAdmin } from './admin';

export interface OperatorSession {
  /** As the audit log names them: `admin`, `token:<name>`, `operator:<who>`. */
  actor: string;
  role: OperatorRole;
  expires_at: string;
}

/** The operator's session of this browser. Null: sign in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<OperatorSession | null> => {
    try {
      return await admin<OperatorSession>('/session', { signal });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
  retry: false,
});

/** Whether operators sign in by a provider. */
export const waysQuery = queryOptions({
  queryKey: ['session', 'ways'],
  queryFn: ({ signal }): Promise<{ provider: boolean }> => admin('/sign-in/ways', { signal }),
  staleTime: Infinity,
});

/** Where a browser goes to sign in by the provider. */
export const PROVIDER_SIGN_IN = '/admin/v1/sign-in';

/** Exchange the admin token, or an operator token, for a session, which is an http-only cookie. The token is kept nowhere. @throws ApiError */
export function signIn(token: string): Promise<OperatorSession> {
  return admin<OperatorSession>('/sessions', { method: 'POST', headers: { Authorization: `Bearer ${token}` } });
}

/** @throws ApiError */
export async function signOut(): Promise<void> {
  await sendAdmin('/session', { method: 'DELETE' });
}
