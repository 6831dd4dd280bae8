import { defineEndpoint, recordId } from '../endpoints';
import {
  ApiKeyCreateSchema,
  ApiKeyListSchema,
  ApiKeyRotateSchema,
  ApiKeySchema,
  ApiKeyUpdateSchema,
  IssuedApiKeySchema,
} from './api-key.schemas';
import { keyLabelFilter } from './key-query';

const common = { tag: 'api-keys', access: { by: 'api_key', scope: 'keys:admin' } } as const;
const params = { id: recordId('API key') };

export const listApiKeys = defineEndpoint({
  ...common,
  id: 'listApiKeys',
  method: 'get',
  path: '/platform/v1/api-keys',
  summary: 'List API keys',
  description:
    'All keys that work, of those with labels the latest thousand, and the thousand that ended last, newest first. With labels ' +
    'only the sub-keys that carry them, of those that ended among the last ten thousand.',
  parameters: [keyLabelFilter],
  answers: { 200: { description: 'The keys.', schema: ApiKeyListSchema } },
});

export const createApiKey = defineEndpoint({
  ...common,
  id: 'createApiKey',
  method: 'post',
  path: '/platform/v1/api-keys',
  creates: '/platform/v1/api-keys/{id}',
  summary: 'Create an API key',
  description:
    'Only this answer shows the key itself. A key grants only scopes that it has itself. The new key ends when the key ends ' +
    'that makes it, at the latest. A key with labels that a rotated key makes during its overlap ends with the successor.',
  body: ApiKeyCreateSchema,
  answers: { 201: { description: 'The key was created.', schema: IssuedApiKeySchema } },
  uncached: true,
});

export const updateApiKey = defineEndpoint({
  ...common,
  id: 'updateApiKey',
  method: 'patch',
  path: '/platform/v1/api-keys/{id}',
  params,
  summary: 'Change from where an API key may be used',
  description:
    'It holds everywhere within 5 seconds. A key cannot allow more than it is allowed itself, nor lock itself out. The keys that it made keep ' +
    'their own lists. A key that has scopes which yours lacks is refused.',
  body: ApiKeyUpdateSchema,
  example: { allowed_addresses: ['203.0.113.0/24'] },
  answers: { 200: { description: 'The key.', schema: ApiKeySchema } },
});

export const rotateApiKey = defineEndpoint({
  ...common,
  id: 'rotateApiKey',
  method: 'post',
  path: '/platform/v1/api-keys/{id}/rotate',
  creates: '/platform/v1/api-keys/{id}',
  params,
  summary: 'Replace an API key',
  description:
    'Creates a key of the same name, scopes, labels and expiry. Keys that the old one made go on with the new one. The old one keeps working for `overlap_seconds`, so that clients can ' +
    'change over. It is refused where the new key would end with yours, before keys that the old one made. A key is rotated once; after that, rotate its successor, with the old key too while that works. Rotate a key that has leaked with `overlap_seconds` 0. A key that has scopes which yours lacks is refused, but a key may replace itself. A key that a spend cap limits, and that may not set caps, rotates only keys that count by that cap as well.',
  body: ApiKeyRotateSchema,
  answers: { 201: { description: 'The new key.', schema: IssuedApiKeySchema } },
  uncached: true,
});

export const revokeApiKey = defineEndpoint({
  ...common,
  id: 'revokeApiKey',
  method: 'delete',
  path: '/platform/v1/api-keys/{id}',
  params,
  summary: 'Revoke an API key',
  description:
    'It is refused everywhere within 5 seconds, and so are all keys that it made, except those that go on with its successor; open invitations that they sent end. Revoking a revoked key changes nothing. A key that has scopes which yours lacks is refused.',
  answers: { 204: { description: 'The key is revoked.' } },
});
