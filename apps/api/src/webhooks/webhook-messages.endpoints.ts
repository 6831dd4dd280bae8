import { defineEndpoint, recordId } from '../endpoints';
import {
  IssuedWebhookEndpointSchema,
  WebhookMessagePageSchema,
  WebhookMessageQuery,
  WebhookMessageSchema,
  WebhookReplaySchema,
  WebhookReplayedSchema,
  WebhookSecretRotateSchema,
} from './webhook.schemas';

const writes = { tag: 'webhooks', access: { by: 'api_key', scope: 'webhooks:write' } } as const;
const params = { id: recordId('webhook endpoint') };
const messageParams = { ...params, message_id: recordId('webhook message') };

export const rotateWebhookSecret = defineEndpoint({
  ...writes,
  id: 'rotateWebhookSecret',
  method: 'post',
  path: '/platform/v1/webhook-endpoints/{id}/rotate',
  params,
  summary: 'Replace the secret of a webhook endpoint',
  description:
    'Messages are signed with the new secret, and for `overlap_seconds` with the old one too, so that the receiver can change over. ' +
    'Only this answer shows the new one.',
  body: WebhookSecretRotateSchema,
  answers: { 200: { description: 'The endpoint and its new secret.', schema: IssuedWebhookEndpointSchema } },
  uncached: true,
});

export const testWebhookEndpoint = defineEndpoint({
  ...writes,
  id: 'testWebhookEndpoint',
  quota: 'sends',
  method: 'post',
  path: '/platform/v1/webhook-endpoints/{id}/test',
  params,
  summary: 'Send a test to a webhook endpoint',
  description:
    'A message of the type `webhook.test`, signed and repeated as every other. Its attempts are in the list of messages.',
  answers: { 201: { description: 'The message; it is sent within a second.', schema: WebhookMessageSchema } },
  errors: ['invalid_field'],
});

export const listWebhookMessages = defineEndpoint({
  tag: 'webhooks',
  access: { by: 'api_key', scope: 'webhooks:read' },
  id: 'listWebhookMessages',
  method: 'get',
  path: '/platform/v1/webhook-endpoints/{id}/messages',
  params,
  query: WebhookMessageQuery,
  summary: 'List the messages of a webhook endpoint',
  description:
    'What was sent and what waits, newest first, with every attempt and the beginning of its answer. Follow `next_cursor` until it is absent. A page ' +
    'shows what it finds among a thousand messages, so it has fewer than `limit`, or none, where few of them match.',
  answers: { 200: { description: 'A page of messages.', schema: WebhookMessagePageSchema } },
  errors: ['invalid_cursor'],
});

export const replayWebhookMessage = defineEndpoint({
  ...writes,
  id: 'replayWebhookMessage',
  quota: 'sends',
  method: 'post',
  path: '/platform/v1/webhook-endpoints/{id}/messages/{message_id}/replay',
  params: messageParams,
  summary: 'Send a webhook message again',
  description:
    'With the same id, and with all its attempts again. A message that is pending stays as it is. Takes the scope of its event, as `createWebhookEndpoint` says.',
  answers: { 200: { description: 'The message as it is now.', schema: WebhookMessageSchema } },
});

export const replayWebhookMessages = defineEndpoint({
  ...writes,
  id: 'replayWebhookMessages',
  quota: 'sends',
  method: 'post',
  path: '/platform/v1/webhook-endpoints/{id}/replay',
  params,
  summary: 'Send webhook messages of a time span again',
  description:
    'Those that were given up, with `delivered` also the others; 10,000 at most in one request, the oldest first. Where `more` is true, send the ' +
    'request again with `next_cursor` as `cursor`: without it, messages that were delivered meanwhile are sent once more. Messages of events ' +
    'whose scope the key lacks, as `createWebhookEndpoint` says, are left out.',
  body: WebhookReplaySchema,
  answers: { 200: { description: 'How many are sent again.', schema: WebhookReplayedSchema } },
  errors: ['invalid_cursor'],
});
