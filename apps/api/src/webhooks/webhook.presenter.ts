import type { z } from 'zod';
import type { IssuedEndpoint, LoggedMessage, WebhookEndpoint } from '@millrace/webhooks';
import type { IssuedWebhookEndpointSchema, WebhookEndpointSchema, WebhookMessageSchema } from './webhook.schemas';

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

/** What a message of an endpoint looks like in the log. */
export function presentWebhookMessage(message: LoggedMessage): z.output<typeof WebhookMessageSchema> {
  return {
    id: message.id,
    type: message.type,
    job_id: message.jobId,
    batch_id: message.batchId,
    state: message.state,
    created_at: message.createdAt.toISOString(),
    ended_at: message.endedAt?.toISOString() ?? null,
    next_attempt_at: message.dueAt?.toISOString() ?? null,
    attempts: message.attempts.map(({ attempt, at, status, error, durationMs, answer }) => ({
      attempt,
      at: at.toISOString(),
      status,
      error,
      duration_ms: durationMs,
      answer,
    })),
  };
}
