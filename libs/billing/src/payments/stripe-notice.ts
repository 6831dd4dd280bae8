import { z } from 'zod';
import type { KeptOrder, PaymentNotice, TopUpOrder } from './top-up';

/** Under this name Stripe keeps the id of a top-up with its checkout. */
const TOP_UP_METADATA = 'millrace_top_up';

/** Micro-credits, or a price in the smallest unit of its currency, above zero. */
const amountText = z
  .string()
  .regex(/^[1-9]\d{0,17}$/)
  .transform(BigInt);

/** The other names under which Stripe keeps an order with its checkout. */
const KeptOrderSchema = z.object({
  millrace_installation: z.string().optional(),
  millrace_account: z.uuid(),
  millrace_micros: amountText,
  millrace_price_minor: amountText,
  millrace_currency: z.string().regex(/^[a-z]{3}$/),
});

/** What Stripe keeps of an order with its checkout and its payment; each event about the checkout has it. */
export function metadataOf(order: TopUpOrder, installation: string | null): Record<string, string> {
  const kept: z.input<typeof KeptOrderSchema> = {
    millrace_account: order.accountId,
    millrace_micros: String(order.amountMicros),
    millrace_price_minor: String(order.priceMinor),
    millrace_currency: order.currency,
    ...(installation === null ? {} : { millrace_installation: installation }),
  };
  return { [TOP_UP_METADATA]: order.id, ...kept };
}

/** An object that Stripe may send whole or by its id. */
const reference = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]).nullish();
const amount = z.int().min(0).transform(BigInt);

/** Only the fields that are read here: Stripe may add others at any time. */
const SessionSchema = z.object({
  id: z.string(),
  payment_status: z.string(),
  amount_total: amount.nullish(),
  currency: z.string().nullish(),
  payment_intent: reference,
  metadata: z.record(z.string(), z.string()).nullish(),
});
const RefundSchema = z.object({
  id: z.string(),
  amount,
  currency: z.string(),
  status: z.string().nullish(),
  payment_intent: reference,
});
const DisputeSchema = RefundSchema.omit({ status: true });
const EventSchema = z.object({ id: z.string(), type: z.string(), data: z.object({ object: z.unknown() }) });

/** In these states of a refund the money stays with us, or comes back. */
const FAILED_REFUNDS: (string | null | undefined)[] = ['failed', 'canceled'];

/**
 * Read an event of Stripe. Each kind is read by its own schema, which holds in every version of Stripe's API that has the event.
 *
 * @throws ZodError when an event about money does not fit its schema: Stripe then delivers it again, and it is not lost.
 */
export function noticeOf(event: unknown): PaymentNotice {
  const { id, type, data } = EventSchema.parse(event);
  switch (type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return paidNotice(id, SessionSchema.parse(data.object));
    case 'checkout.session.async_payment_failed':
      return endNotice(id, 'failed', SessionSchema.parse(data.object));
    case 'checkout.session.expired':
      return endNotice(id, 'expired', SessionSchema.parse(data.object));
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
    case 'charge.refund.updated': {
      const refund = RefundSchema.parse(data.object);
      return reversalNotice(id, refund, FAILED_REFUNDS.includes(refund.status));
    }
    case 'charge.dispute.funds_withdrawn':
      return reversalNotice(id, DisputeSchema.parse(data.object), false);
    case 'charge.dispute.funds_reinstated':
      return reversalNotice(id, DisputeSchema.parse(data.object), true);
    default:
      return { kind: 'other', id };
  }
}

type Session = z.infer<typeof SessionSchema>;

/** A checkout can complete before its money arrives; `checkout.session.async_payment_succeeded` follows then. */
function paidNotice(id: string, session: Session): PaymentNotice {
  const topUpId = topUpOf(session);
  if (topUpId === null || session.payment_status === 'unpaid') return { kind: 'other', id };
  return {
    kind: 'paid',
    id,
    topUpId,
    checkoutRef: session.id,
    paymentRef: session.payment_intent ?? null,
    amountMinor: session.amount_total ?? null,
    currency: session.currency ?? null,
    order: orderOf(session),
  };
}

function endNotice(id: string, kind: 'failed' | 'expired', session: Session): PaymentNotice {
  const topUpId = topUpOf(session);
  return topUpId === null ? { kind: 'other', id } : { kind, id, topUpId };
}

function reversalNotice(id: string, object: z.infer<typeof DisputeSchema>, undone: boolean): PaymentNotice {
  const { id: reversalId, payment_intent: paymentRef, amount: amountMinor, currency } = object;
  if (typeof paymentRef !== 'string') return { kind: 'other', id };
  return { kind: 'reversal', id, reversal: { id: reversalId, paymentRef, amountMinor, currency, undone } };
}

function orderOf({ metadata }: Session): KeptOrder | null {
  const kept = KeptOrderSchema.safeParse(metadata);
  if (!kept.success) return null;
  const { data } = kept;
  return {
    installation: data.millrace_installation ?? null,
    accountId: data.millrace_account,
    amountMicros: data.millrace_micros,
    priceMinor: data.millrace_price_minor,
    currency: data.millrace_currency,
  };
}

/** Null: a checkout of another product of the same Stripe account. */
function topUpOf({ metadata }: Session): string | null {
  const id = z.uuid().safeParse(metadata?.[TOP_UP_METADATA]);
  return id.success ? id.data : null;
}
