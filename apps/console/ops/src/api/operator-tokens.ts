import { queryOptions } from '@tanstack/react-query';
import type { OperatorRole } from '@millrace/contracts';
import { admin, sendAdmin } from './admin';

export interface OperatorToken {
  id: string;
  name: string;
  role: OperatorRole;
  created_by: string;
  created_at: string;
  expires_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
}

export const operatorTokensQuery = queryOptions({
  queryKey: ['operator-tokens'],
  queryFn: async ({ signal }) => (await admin<{ tokens: OperatorToken[] }>('/operator-tokens', { signal })).tokens,
});

/** A token just made, with its text, which nothing shows again. @throws ApiError */
export function createOperatorToken(body: {
  name: string;
  role: OperatorRole;
}): Promise<{ name: string; token: string }> {
  return admin('/operator-tokens', { method: 'POST', body });
}

/** @throws ApiError */
export async function revokeOperatorToken(id: string): Promise<void> {
  await sendAdmin(`/operator-tokens/${encodeURIComponent(id)}`, { method: 'DELETE' });
}
