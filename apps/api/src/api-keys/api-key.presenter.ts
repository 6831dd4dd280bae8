import type { z } from 'zod';
import { apiKeyState, type ApiKeyRecord, type IssuedApiKey, type KeyWish } from '@millrace/accounts';
import type { ApiKeyCreateSchema, ApiKeySchema, IssuedApiKeySchema } from './api-key.schemas';

/** What an API key looks like on the wire. */
export function presentApiKey(key: ApiKeyRecord): z.output<typeof ApiKeySchema> {
  return {
    id: key.id,
    name: key.name,
    last_four: key.lastFour,
    scopes: key.scopes,
    labels: key.labels,
    status: apiKeyState(key, new Date()),
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    allowed_addresses: key.allowedAddresses,
    expires_by_age: key.expiresByAge,
    rotated_to: key.rotatedTo,
    parent_id: key.parentId,
    member_id: key.memberId,
  };
}

/** Only the answer that creates a key shows it. */
export function presentIssuedKey({ key, ...record }: IssuedApiKey): z.output<typeof IssuedApiKeySchema> {
  return { ...presentApiKey(record), key };
}

/** The key that a request asks for. */
export function keyWishOf(body: z.output<typeof ApiKeyCreateSchema>): KeyWish {
  const { expires_at: expiresAt, allowed_addresses: allowedAddresses, ...wish } = body;
  return { ...wish, expiresAt, allowedAddresses };
}
