import { z } from 'zod';
import { TOP_UP_STATUSES } from '@millrace/billing';
import { TimestampSchema } from '@millrace/contracts';

export const TopUpCreateSchema = z
  .object({
    credits: z
      .int()
      .min(1)
      .meta({ description: 'How many credits to buy, between the minimum and the maximum of the service.' }),
    return_url: z
      .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
      .max(2_000)
      .meta({ description: 'Where the payer returns to, paid or not; `top_up=<id>` is added to its query.' }),
  })
  .meta({ id: 'TopUpCreate', description: 'A purchase of credits to open.' });

export const TopUpSchema = z
  .object({
    id: z.uuid(),
    status: z.enum(TOP_UP_STATUSES).meta({
      description:
        '`open` until it is paid; `paid` once its credits are added; `failed`; `expired`; `refused` when the payment does ' +
        'not match the price.',
    }),
    amount_micros: z.int().meta({ description: 'Micro-credits that it adds.' }),
    price_minor: z.int().meta({ description: 'Its price in the smallest unit of the currency.' }),
    currency: z.string(),
    checkout_url: z.string().nullable().meta({ description: 'Page where it is paid; null unless it is open.' }),
    created_at: TimestampSchema,
    paid_at: TimestampSchema.nullable(),
  })
  .meta({ id: 'TopUp', description: 'A purchase of credits.' });
