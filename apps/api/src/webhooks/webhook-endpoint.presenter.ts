import type { z } from 'zod';
import type { IssuedEndpoint, WebhookEndpoint } from '@millrace/webhooks';
import type { IssuedWebhookEndpointSchema, WebhookEndpointSchema } from './webhook.schemas';

/** What a webhook endpoint looks like on the wire. */
export function presentWebhookEndpoint(endpoint: WebhookEndpoint): z.output<typeof WebhookEndpointSchema> {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    events: endpoint.eventTypes,
    enabled: endpoint.disabledAt === null,
    disabled_at: endpoint.disabledAt?.toISOString() ?? null,
    disabled_reason: endpoint.disabledReason,
    failing_since: endpoint.failingSince?.toISOString() ?? null,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
  };
}

/** Only the answer that makes a secret shows it. */
export function presentIssuedEndpoint({
  endpoint,
  secret,
}: IssuedEndpoint): z.output<typeof IssuedWebhookEndpointSchema> {
  return { ...presentWebhookEndpoint(endpoint), secret };
}
