import type { z } from 'zod';
import type { TopUp } from '@millrace/billing';
import type { TopUpSchema } from './top-up.schemas';

/** What a top-up looks like on the wire. */
export function presentTopUp(topUp: TopUp): z.output<typeof TopUpSchema> {
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
