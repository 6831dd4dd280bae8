import { z } from 'zod';
import { defineEndpoint } from '../endpoints';

const path = '/platform/v1/credits/alert';

const CreditAlertSchema = z
  .object({
    below_micros: z
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .meta({ description: 'In millionths of a credit, of what is available and held together; 0: never.' }),
  })
  .meta({ id: 'CreditAlert', description: 'When the webhook event `credits.low` is sent.' });

export const getCreditAlert = defineEndpoint({
  id: 'getCreditAlert',
  method: 'get',
  path,
  tag: 'credits',
  access: { by: 'api_key', scope: 'usage:read' },
  summary: 'Read when credits are low',
  description: 'Below which balance the webhook event `credits.low` is sent. Five credits where nothing was set.',
  answers: { 200: { description: 'The limit.', schema: CreditAlertSchema } },
});

export const putCreditAlert = defineEndpoint({
  id: 'putCreditAlert',
  method: 'put',
  path,
  tag: 'credits',
  access: { by: 'api_key', scope: 'credits:write' },
  summary: 'Set when credits are low',
  description:
    'The webhook event `credits.low` is sent once when the balance falls below it, and again only after the account has had as much or more.',
  body: CreditAlertSchema,
  example: { below_micros: 5_000_000 },
  answers: { 200: { description: 'The limit as it is now.', schema: CreditAlertSchema } },
});
