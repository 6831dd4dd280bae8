import { z } from 'zod';
import { TimestampSchema, WEBHOOK_EVENTS, boundedList } from '@millrace/contracts';
import { DISABLED_REASONS, MESSAGE_STATES } from '@millrace/webhooks';
import { pageQuery, pageSchema, time } from '../endpoints';

const URL_CHARACTERS = 2_048;
const CURSOR_CHARACTERS = 512;
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
      '`by_owner`; `failing`: no attempt succeeded for three days in which messages were tried again; `gone`: the receiver answered 410. Enable it when it is well.',
  }),
  failing_since: TimestampSchema.nullable().meta({
    description:
      'Since when attempts fail; null where the last one succeeded. It begins again with an attempt that fails more than three days later while no message is being tried again.',
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

const DAY_SECONDS = 86_400;

export const WebhookSecretRotateSchema = z
  .object({
    overlap_seconds: z
      .int()
      .min(0)
      .max(30 * DAY_SECONDS)
      .default(DAY_SECONDS)
      .meta({
        description:
          'How long messages are signed with the old secret too, in seconds, 0 to 2592000; a day by default.',
      }),
  })
  .meta({ id: 'WebhookSecretRotate', description: 'How a secret is replaced.' });

const WebhookAttemptSchema = z
  .object({
    attempt: z.int().min(1),
    at: TimestampSchema,
    status: z.int().nullable().meta({ description: 'HTTP status of the answer; null where none came.' }),
    error: z.string().nullable().meta({ description: 'Why no answer came; null where one did.' }),
    duration_ms: z.int(),
    answer: z.string().meta({ description: 'The first characters of the answer. Untrusted: render as plain text.' }),
  })
  .meta({ id: 'WebhookAttempt', description: 'One attempt to send a message.' });

export const WebhookMessageSchema = z
  .object({
    id: z.uuid().meta({ description: 'Sent as `webhook-id`.' }),
    type: z.string().meta({ description: 'The event, or `webhook.test`.' }),
    job_id: z.uuid().nullable(),
    batch_id: z.uuid().nullable(),
    state: z.enum(MESSAGE_STATES).meta({ description: '`failed`: no attempt succeeded, and there is no other.' }),
    created_at: TimestampSchema.meta({ description: 'When the event happened.' }),
    ended_at: TimestampSchema.nullable().meta({ description: 'When it was delivered or given up.' }),
    next_attempt_at: TimestampSchema.nullable().meta({
      description: 'While it is pending: when the next attempt is made, at the latest.',
    }),
    attempts: z.array(WebhookAttemptSchema).meta({ description: 'The last 20, the first one first.' }),
  })
  .meta({ id: 'WebhookMessage', description: 'A message for an endpoint, and what came of it.' });

export const WebhookMessagePageSchema = pageSchema('messages', WebhookMessageSchema, 'WebhookMessagePage');

export const WebhookMessageQuery = z.object({
  ...pageQuery,
  state: z.enum(MESSAGE_STATES).optional().meta({ description: 'Only messages in this state.' }),
});

export const WebhookReplaySchema = z
  .object({
    since: time.optional().meta({ description: 'Events that happened then or later; absent: all that are kept.' }),
    until: time.optional().meta({ description: 'Events that happened before; absent: until now.' }),
    delivered: z.boolean().default(false).meta({
      description: 'True: messages that were delivered, too. Otherwise those that were given up alone.',
    }),
    cursor: z.string().min(1).max(CURSOR_CHARACTERS).optional().meta({
      description: '`next_cursor` of the answer before, with the same span; left out for the first request.',
    }),
  })
  .meta({ id: 'WebhookReplay', description: 'Which messages are sent again.' });

export const WebhookReplayedSchema = z
  .object({
    replayed: z.int().min(0).meta({ description: 'How many messages are sent again.' }),
    more: z.boolean().meta({
      description: 'True: there may be more in the span. Send the request again, with `next_cursor` as `cursor`.',
    }),
    next_cursor: z.string().optional().meta({
      description:
        'Give it as `cursor` of the next request, which goes on behind these messages; absent where there are no more.',
    }),
  })
  .meta({ id: 'WebhookReplayed', description: 'How many messages are sent again.' });
