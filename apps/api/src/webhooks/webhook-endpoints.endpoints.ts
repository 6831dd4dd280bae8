import { defineEndpoint, recordId } from '../endpoints';
import {
  IssuedWebhookEndpointSchema,
  WebhookEndpointCreateSchema,
  WebhookEndpointListSchema,
  WebhookEndpointSchema,
  WebhookEndpointUpdateSchema,
} from './webhook.schemas';

const reads = { tag: 'webhooks', access: { by: 'api_key', scope: 'webhooks:read' } } as const;
const writes = { tag: 'webhooks', access: { by: 'api_key', scope: 'webhooks:write' } } as const;
const params = { id: recordId('webhook endpoint') };

export const listWebhookEndpoints = defineEndpoint({
  ...reads,
  id: 'listWebhookEndpoints',
  method: 'get',
  path: '/platform/v1/webhook-endpoints',
  summary: 'List webhook endpoints',
  description: 'Where events of the account are sent, newest first.',
  answers: { 200: { description: 'The endpoints.', schema: WebhookEndpointListSchema } },
});

export const createWebhookEndpoint = defineEndpoint({
  ...writes,
  id: 'createWebhookEndpoint',
  method: 'post',
  path: '/platform/v1/webhook-endpoints',
  creates: '/platform/v1/webhook-endpoints/{id}',
  summary: 'Create a webhook endpoint',
  description:
    'Events that happen from now on are sent to it, signed as Standard Webhooks says. Only this answer shows the secret. A message ' +
    'is `{id, type, timestamp, data}`; `data` is the job as `getJob` answers it, without `logs`. Takes the scope with which what an event has is read as well: `jobs:read` for ' +
    '`job.*`, `batch.completed` and `deployment.*`, `usage:read` for `credits.low`, `spend.*` and `exports.disabled`, `keys:admin` for `key.expiring`, `assets:read` for ' +
    '`model.deleted`, `webhooks:read` for `webhook.disabled`.',
  body: WebhookEndpointCreateSchema,
  answers: { 201: { description: 'The endpoint was created.', schema: IssuedWebhookEndpointSchema } },
  uncached: true,
  errors: ['webhook_endpoint_limit'],
});

export const getWebhookEndpoint = defineEndpoint({
  ...reads,
  id: 'getWebhookEndpoint',
  method: 'get',
  path: '/platform/v1/webhook-endpoints/{id}',
  params,
  summary: 'Read a webhook endpoint',
  description: 'Its URL, its events, and whether it gets them.',
  answers: { 200: { description: 'The endpoint.', schema: WebhookEndpointSchema } },
});

export const updateWebhookEndpoint = defineEndpoint({
  ...writes,
  id: 'updateWebhookEndpoint',
  method: 'patch',
  path: '/platform/v1/webhook-endpoints/{id}',
  params,
  summary: 'Change a webhook endpoint',
  description:
    'Messages that wait go to the new URL. The events count from the next one that happens. Another URL, and other events, take the scopes with which what the endpoint gets is ' +
    'read, as `createWebhookEndpoint` says; for another URL the messages that wait count as well.',
  body: WebhookEndpointUpdateSchema,
  answers: { 200: { description: 'The endpoint as it is now.', schema: WebhookEndpointSchema } },
});

export const deleteWebhookEndpoint = defineEndpoint({
  ...writes,
  id: 'deleteWebhookEndpoint',
  method: 'delete',
  path: '/platform/v1/webhook-endpoints/{id}',
  params,
  summary: 'Delete a webhook endpoint',
  description: 'Nothing is sent to it from then on. Its messages and their log are deleted.',
  answers: { 204: { description: 'The endpoint is deleted.' } },
});
