import { defineEndpoint, recordId } from '../endpoints';
import { ApiKeyCreateSchema, ApiKeyListSchema, ApiKeyRotateSchema, IssuedApiKeySchema } from './api-key.schemas';

const common = { tag: 'api-keys', access: { by: 'api_key', scope: 'keys:admin' } } as const;
const params = { id: recordId('API key') };

export const listApiKeys = defineEndpoint({
  ...common,
  id: 'listApiKeys',
  method: 'get',
  path: '/platform/v1/api-keys',
  summary: 'List API keys',
  description: 'All keys that the account ever had, newest first.',
  answers: { 200: { description: 'The keys.', schema: ApiKeyListSchema } },
});

export const createApiKey = defineEndpoint({
  ...common,
  id: 'createApiKey',
  method: 'post',
  path: '/platform/v1/api-keys',
  summary: 'Create an API key',
  description: 'Only this answer shows the key itself. A key grants only scopes that it has itself.',
  body: ApiKeyCreateSchema,
  answers: { 201: { description: 'The key was created.', schema: IssuedApiKeySchema } },
});

export const rotateApiKey = defineEndpoint({
  ...common,
  id: 'rotateApiKey',
  method: 'post',
  path: '/platform/v1/api-keys/{id}/rotate',
  params,
  summary: 'Replace an API key',
  description:
    'Creates a key of the same name, scopes and expiry. The old one keeps working for `overlap_seconds`, so that clients can ' +
    'change over. A key is rotated once; after that, rotate its successor.',
  body: ApiKeyRotateSchema,
  answers: { 201: { description: 'The new key.', schema: IssuedApiKeySchema } },
});

export const revokeApiKey = defineEndpoint({
  ...common,
  id: 'revokeApiKey',
  method: 'delete',
  path: '/platform/v1/api-keys/{id}',
  params,
  summary: 'Revoke an API key',
  description: 'It is refused everywhere within 5 seconds. Revoking a revoked key changes nothing.',
  answers: { 204: { description: 'The key is revoked.' } },
});
