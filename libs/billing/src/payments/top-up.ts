/** Who collects payments. */
export const PAYMENT_PROVIDERS = ['stripe'] as const;
export type PaymentProviderName = (typeof PAYMENT_PROVIDERS)[number];

/**
 * The state of a top-up: `open` until it is paid; `failed` and `expired` as the provider reports; `refused` when another amount
 * was paid than ordered.
 */
export const TOP_UP_STATUSES = ['open', 'paid', 'failed', 'expired', 'refused'] as const;
export type TopUpStatus = (typeof TOP_UP_STATUSES)[number];

/** What a payment provider is asked to collect. */
export interface TopUpOrder {
  id: string;
  accountId: string;
  /** Credits that it brings. */
  amountMicros: bigint;
  /** In the smallest unit of the currency, e.g. cents. */
  priceMinor: bigint;
  /** ISO 4217 in lower case. */
  currency: string;
}

/**
 * An order as the provider keeps it with its checkout: it can be recorded again by that where the database was restored to a time
 * before it.
 */
export interface KeptOrder extends Omit<TopUpOrder, 'id'> {
  /** Where it was made: the public origin of the service; null where none was set. */
  installation: string | null;
}

/** A purchase of credits. */
export interface TopUp extends TopUpOrder {
  provider: PaymentProviderName;
  status: TopUpStatus;
  /** Where it is paid; null until the provider has answered. */
  checkoutUrl: string | null;
  /** The provider's name of the payment, once there is one. */
  paymentRef: string | null;
  /** The transaction of the ledger that brought the credits. */
  transactionId: string | null;
  createdAt: Date;
  paidAt: Date | null;
}

/** A message of a provider about money, its signature checked. `id` is the same each time it is delivered. */
export type PaymentNotice =
  | {
      kind: 'paid';
      id: string;
      topUpId: string;
      checkoutRef: string;
      paymentRef: string | null;
      /** What was collected; null where the message does not have it. */
      amountMinor: bigint | null;
      currency: string | null;
      /** Null where the message does not have all of it: the checkout was opened by a version that did not send it. */
      order: KeptOrder | null;
    }
  | { kind: 'failed' | 'expired'; id: string; topUpId: string }
  | { kind: 'reversal'; id: string; reversal: Reversal }
  | { kind: 'other'; id: string };

/** A message that an order was paid. */
export type PaidNotice = Extract<PaymentNotice, { kind: 'paid' }>;

/** A refund or a dispute: money of a payment that went back, or was returned to us. */
export interface Reversal {
  id: string;
  paymentRef: string;
  amountMinor: bigint;
  currency: string;
  /** True when the money stays after all: the refund failed, the dispute was won. */
  undone: boolean;
}

/**
 * How many of a top-up's credits go back with a part of its price: the same share, rounded down in favour of the account, and
 * all of them with all of it.
 */
export function reversedMicros(
  { amountMicros, priceMinor }: Pick<TopUpOrder, 'amountMicros' | 'priceMinor'>,
  reversedMinor: bigint,
): bigint {
  return reversedMinor >= priceMinor ? amountMicros : (amountMicros * reversedMinor) / priceMinor;
}
