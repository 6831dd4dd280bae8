import { z } from 'zod';
import { TimestampSchema, WEBHOOK_EVENTS, boundedList } from '@millrace/contracts';
import { DISABLED_REASONS } from '@millrace/webhooks';

const URL_CHARACTERS = 2_048;
/** Repeated ones included. */
const EVENTS_SENT = 64;

const url = z.string().min(1).max(URL_CHARACTERS).meta({
  description: 'Where events are sent, https:// and a host of the public internet; port 443, or one from 1024.',
});
const events = boundedList(z.enum(WEBHOOK_EVENTS), { min: 1, max: EVENTS_SENT }).meta({
  description: 'The events that are sent.',
});
const description = z
  .string()
  .trim()
  .max(200)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'must have no control characters')
  .meta({ description: 'A note for people, at most 200 characters.' });

export const WebhookEndpointCreateSchema = z
  .object({ url, events: events.default([...WEBHOOK_EVENTS]), description: description.default('') })
  .meta({ id: 'WebhookEndpointCreate', description: 'A new webhook endpoint.' });

export const WebhookEndpointUpdateSchema = z
  .object({
    url: url.optional(),
    events: events.optional(),
    description: description.optional(),
    enabled: z.boolean().optional().meta({
      description: 'False: events are recorded and wait. True: they are sent again, those that waited first.',
    }),
  })
  .meta({ id: 'WebhookEndpointUpdate', description: 'What of an endpoint changes; what is absent stays.' });

const endpointShape = {
  id: z.uuid(),
  url: z.string(),
  description: z.string(),
  events: z.array(z.string()),
  enabled: z.boolean(),
  disabled_at: TimestampSchema.nullable().meta({
    description: 'Since when nothing is sent; null while it is enabled.',
  }),
  disabled_reason: z.literal([...DISABLED_REASONS, null]).meta({
    description:
      '`by_owner`; `failing`: no attempt succeeded for three days; `gone`: the receiver answered 410. Enable it when it is well.',
  }),
  failing_since: TimestampSchema.nullable().meta({
    description: 'The first failed attempt since the last that succeeded; null where the last one did.',
  }),
  created_at: TimestampSchema,
  updated_at: TimestampSchema,
};

export const WebhookEndpointSchema = z
  .object(endpointShape)
  .meta({ id: 'WebhookEndpoint', description: 'Where events of the account are sent.' });

export const IssuedWebhookEndpointSchema = z
  .object({
    ...endpointShape,
    secret: z.string().meta({ description: 'What its messages are signed with: shown now and never again.' }),
  })
  .meta({ id: 'IssuedWebhookEndpoint', description: 'A newly created webhook endpoint.' });

export const WebhookEndpointListSchema = z
  .object({ webhook_endpoints: z.array(WebhookEndpointSchema) })
  .meta({ id: 'WebhookEndpointList', description: 'All endpoints of the account, newest first.' });
