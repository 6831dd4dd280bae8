/** Who collects payments. */
export const PAYMENT_PROVIDERS = ['stripe'] as const;
export type PaymentProviderName = (typeof PAYMENT_PROVIDERS)[number];

/**
 * Where a top-up stands: `open` until it is paid; `failed` and `expired` as the provider tells; `refused` when what was
 * paid is not what was asked for.
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

/** A purchase of credits. */
export interface TopUp extends TopUpOrder {
  provider: PaymentProviderName;
  status: TopUpStatus;
  /** Where it is paid; null before the provider has told. */
  checkoutUrl: string | null;
  /** The provider's name of the payment, once there is one. */
  paymentRef: string | null;
  /** The transaction of the ledger that brought the credits. */
  transactionId: string | null;
  createdAt: Date;
  paidAt: Date | null;
}

/** What a provider tells of money, read from a message that it has signed. `id` is the same each time it tells it. */
export type PaymentNotice =
  | {
      kind: 'paid';
      id: string;
      topUpId: string;
      checkoutRef: string;
      paymentRef: string | null;
      /** What was collected; null where the provider does not tell. */
      amountMinor: bigint | null;
      currency: string | null;
    }
  | { kind: 'failed' | 'expired'; id: string; topUpId: string }
  | { kind: 'reversal'; id: string; reversal: Reversal }
  | { kind: 'other'; id: string };

/** A refund or a dispute: money of a payment that has gone back, or has come again. */
export interface Reversal {
  id: string;
  paymentRef: string;
  amountMinor: bigint;
  currency: string;
  /** True when the money stays after all: the refund failed, the dispute was won. */
  undone: boolean;
}

/**
 * How many of a top-up's credits go back with so much of its price: the same share, rounded down in favour of the account,
 * and all of them with all of it.
 */
export function reversedMicros(
  { amountMicros, priceMinor }: Pick<TopUpOrder, 'amountMicros' | 'priceMinor'>,
  reversedMinor: bigint,
): bigint {
  return reversedMinor >= priceMinor ? amountMicros : (amountMicros * reversedMinor) / priceMinor;
}
