import { Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Logger } from '@millrace/platform';
import type { PaymentProvider } from './payment-provider';
import type { KeptOrder, PaidNotice } from './top-up';
import type { TopUpStore } from './top-up.store';

/** `missing`: nothing is known by which the order could be recorded again. */
export type OrderState = 'known' | 'restored' | 'missing';

/**
 * Orders that were paid and are not in the database: it was restored to a time before them, or they were made at another
 * installation that uses the same account of the provider.
 */
export class LostOrders {
  constructor(
    private readonly store: TopUpStore,
    private readonly logger: Logger,
  ) {}

  /**
   * Have the order of a payment, recorded again by what the provider keeps of it where it is lost. What was paid is compared with it
   * afterwards, as with any other order. Orders are never deleted, so the answer holds for the rest of the transaction.
   *
   * @throws Refusal `not_found` where the account of an order of this installation is lost, too, and `invalid_request` for an order of
   * an account of this installation that names another: the provider then sends the message again, and shows that it failed.
   */
  async restore(tx: Statements, provider: PaymentProvider, notice: PaidNotice): Promise<OrderState> {
    const { topUpId, order } = notice;
    if (await this.store.exists(tx, topUpId)) return 'known';
    const facts = { topUpId, event: notice.id, order: order && factsOf(order) };
    if (order === null) {
      this.logger.error(
        facts,
        'a payment was made for an unknown top-up, and its message does not say what was ordered',
      );
      return 'missing';
    }
    const isHere = await this.store.accountExists(tx, order.accountId);
    if (order.installation !== provider.installation) {
      if (isHere) throw ofAnotherOrigin(topUpId, order, provider);
      this.logger.warn(facts, 'a payment was made for a top-up of another installation');
      return 'missing';
    }
    if (!isHere && order.installation !== null) throw withoutAccount(topUpId, order);
    if (!isHere) {
      this.logger.error(facts, 'a payment was made for a top-up of an unknown account');
      return 'missing';
    }
    if (!(await this.store.restore(tx, provider.name, { id: topUpId, ...order }))) return 'known';
    this.logger.warn(facts, 'a payment was made for a top-up that the database had lost; it was recorded again');
    return 'restored';
  }
}

function factsOf({ amountMicros, priceMinor, ...order }: KeptOrder): object {
  return { ...order, amountMicros: Number(amountMicros), priceMinor: Number(priceMinor) };
}

function withoutAccount(topUpId: string, { accountId }: KeptOrder): Refusal {
  return new Refusal(
    'not_found',
    `The top-up ${topUpId} was ordered here by the account ${accountId}, which does not exist. Restore a backup that has the account and send the event again, or refund the payment.`,
  );
}

function ofAnotherOrigin(topUpId: string, { accountId, installation }: KeptOrder, provider: PaymentProvider): Refusal {
  const named = (origin: string | null): string => origin ?? 'an installation without MILLRACE_PUBLIC_URL';
  return new Refusal(
    'invalid_request',
    `The top-up ${topUpId} was ordered at ${named(installation)}, and this is ${named(provider.installation)}, which has its account ${accountId} but not the order. If the service has moved, set MILLRACE_PUBLIC_URL to what it was and send the event again.`,
  );
}
