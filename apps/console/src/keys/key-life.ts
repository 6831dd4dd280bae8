import type { ApiKey } from '../api/api-keys';

/** When a key ends, by what is known now; null means never. */
export function endOf({ expires_at: expiry, revoked_at: end }: ApiKey): string | null {
  if (expiry === null || end === null) return expiry ?? end;
  return Date.parse(expiry) < Date.parse(end) ? expiry : end;
}

/** The keys that work and end when this one is revoked: those that it made, and those that they made. */
export function descendantsOf(id: string, keys: readonly ApiKey[]): ApiKey[] {
  const children = keys.filter((key) => key.parent_id === id);
  return children.flatMap((key) => [...(key.status === 'live' ? [key] : []), ...descendantsOf(key.id, keys)]);
}
