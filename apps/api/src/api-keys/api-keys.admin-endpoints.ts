import { defineEndpoint, recordId } from '../endpoints';
import { ApiKeyCreateSchema, ApiKeyListSchema, IssuedApiKeySchema } from './api-key.schemas';

const common = { tag: 'api-keys' } as const;
const id = recordId('account');

export const issueApiKey = defineEndpoint({
  ...common,
  id: 'issueApiKey',
  access: { by: 'operator', role: 'operator', reason: true },
  method: 'post',
  path: '/admin/v1/accounts/{id}/api-keys',
  params: { id },
  summary: 'Create an API key for an account',
  description: 'Only this answer shows the key itself.',
  body: ApiKeyCreateSchema,
  answers: { 201: { description: 'The key was created.', schema: IssuedApiKeySchema } },
  uncached: true,
});

export const listAccountApiKeys = defineEndpoint({
  ...common,
  id: 'listAccountApiKeys',
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  path: '/admin/v1/accounts/{id}/api-keys',
  params: { id },
  summary: "List an account's API keys",
  description:
    'All keys that work, of those with labels the latest thousand, and the thousand that ended last, newest first.',
  answers: { 200: { description: 'The keys.', schema: ApiKeyListSchema } },
});

export const revokeAccountApiKey = defineEndpoint({
  ...common,
  id: 'revokeAccountApiKey',
  access: { by: 'operator', role: 'operator', reason: true },
  method: 'delete',
  path: '/admin/v1/accounts/{id}/api-keys/{key_id}',
  params: { id, key_id: recordId('API key') },
  summary: "Revoke an account's API key",
  description:
    'It is refused everywhere within 5 seconds, and so are all keys that it made. Revoking a revoked key changes nothing.',
  answers: { 204: { description: 'The key is revoked.' } },
});
