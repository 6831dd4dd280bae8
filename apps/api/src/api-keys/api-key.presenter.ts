import { apiKeyState, type ApiKeyRecord, type IssuedApiKey } from '@millrace/accounts';

/** What an API key looks like on the wire. */
export function presentApiKey(key: ApiKeyRecord): object {
  return {
    id: key.id,
    name: key.name,
    last_four: key.lastFour,
    scopes: key.scopes,
    status: apiKeyState(key, new Date()),
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    rotated_to: key.rotatedTo,
  };
}

/** The one answer that carries the key. */
export function presentIssuedKey({ key, ...record }: IssuedApiKey): object {
  return { ...presentApiKey(record), key };
}
