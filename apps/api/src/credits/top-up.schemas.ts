import { z } from 'zod';
import { TOP_UP_STATUSES, type TopUp } from '@millrace/billing';
import { TimestampSchema } from '@millrace/contracts';

export const TopUpCreateSchema = z
  .object({
    credits: z.int().min(1).meta({ description: 'How many credits to buy; the service has a least and a most.' }),
    return_url: z
      .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
      .max(2_000)
      .meta({ description: 'Where the payer comes back to, however it went; `top_up=<id>` is added to its query.' }),
  })
  .meta({ id: 'TopUpCreate', description: 'What shall be bought.' });

export const TopUpSchema = z
  .object({
    id: z.uuid(),
    status: z.enum(TOP_UP_STATUSES).meta({
      description:
        '`open` until it is paid; `paid` when its credits are there; `failed`, `expired`; `refused` when what was paid is ' +
        'not what was asked for.',
    }),
    amount_micros: z.int().meta({ description: 'Micro-credits that it brings.' }),
    price_minor: z.int().meta({ description: 'Its price in the smallest unit of the currency.' }),
    currency: z.string(),
    checkout_url: z.string().nullable().meta({ description: 'Where it is paid; null unless it is open.' }),
    created_at: TimestampSchema,
    paid_at: TimestampSchema.nullable(),
  })
  .meta({ id: 'TopUp', description: 'A purchase of credits.' });

/** What a top-up looks like on the wire. */
export function presentTopUp(topUp: TopUp): object {
  return {
    id: topUp.id,
    status: topUp.status,
    amount_micros: Number(topUp.amountMicros),
    price_minor: Number(topUp.priceMinor),
    currency: topUp.currency,
    checkout_url: topUp.status === 'open' ? topUp.checkoutUrl : null,
    created_at: topUp.createdAt.toISOString(),
    paid_at: topUp.paidAt?.toISOString() ?? null,
  };
}
