import { queryOptions } from '@tanstack/react-query';
import type { Scope } from '@millrace/contracts';
import { deleteRecord, sendForJson } from './client';

const POLL_MS = 10_000;
const KEYS = '/platform/v1/api-keys';

/** An API key of the account; the key itself is not kept by the service. */
export interface ApiKey {
  id: string;
  name: string;
  last_four: string;
  scopes: Scope[];
  /** Of a sub-key: its jobs carry them, and it sees no others. Null: no sub-key. */
  labels: Record<string, string> | null;
  status: 'live' | 'expired' | 'revoked';
  created_at: string;
  expires_at: string | null;
  /** In the future while the key overlaps with its successor. */
  revoked_at: string | null;
  last_used_at: string | null;
  rotated_to: string | null;
  /** The key that made it, and with which it ends. */
  parent_id: string | null;
}

/** A new key: this answer alone has the key itself. */
export interface IssuedApiKey extends ApiKey {
  key: string;
}

export interface ApiKeyWish {
  name: string;
  scopes: Scope[];
  /** Null: no sub-key. */
  labels: Record<string, string> | null;
  /** Null: with the key that makes it, if that ends, else never. */
  expires_at: string | null;
}

/** All keys that work, and the latest that no longer do, newest first. */
export const apiKeysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: async ({ signal }) => (await sendForJson<{ api_keys: ApiKey[] }>(KEYS, { signal })).api_keys,
  refetchInterval: POLL_MS,
});

/** @throws ApiError */
export function createApiKey(wish: ApiKeyWish): Promise<IssuedApiKey> {
  return sendForJson<IssuedApiKey>(KEYS, { method: 'POST', body: wish });
}

/** Replace a key; the old one works for so many seconds more. @throws ApiError */
export function rotateApiKey(id: string, overlapSeconds: number): Promise<IssuedApiKey> {
  return sendForJson<IssuedApiKey>(`${KEYS}/${id}/rotate`, {
    method: 'POST',
    body: { overlap_seconds: overlapSeconds },
  });
}

/** End a key, and all keys that it made. @throws ApiError */
export async function revokeApiKey(id: string): Promise<void> {
  await deleteRecord(`${KEYS}/${id}`);
}
