import { Refusal, newId } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import { assertConfigured, type PaymentProvider } from './payment-provider';
import { MICROS_PER_CREDIT } from '../price';
import type { TopUp } from './top-up';
import type { TopUpStore } from './top-up.store';

/** Orders that an account may make in an hour without paying: each is a request to the provider. */
const MOST_UNPAID = 100;
const HOUR_SECONDS = 3_600;

/** The price of credits, and how many are sold at once. */
export interface TopUpTerms {
  topUpCurrency: string;
  creditPriceMinor: number;
  topUpMinCredits: number;
  topUpMaxCredits: number;
}

/** Purchases of credits, as account holders make and see them. */
export class TopUpsService {
  /** @param provider null where credits are not sold. */
  constructor(
    private readonly database: Database,
    private readonly store: TopUpStore,
    private readonly provider: PaymentProvider | null,
    private readonly terms: TopUpTerms,
  ) {}

  /**
   * Open a checkout for so many credits. The order is recorded before it is sent to the provider, so that every payment has
   * one.
   *
   * @throws Refusal `payments_not_configured`, `invalid_request` for too few or too many, `rate_limited`.
   */
  async open(accountId: string, credits: number, returnUrl: string): Promise<TopUp> {
    const provider = assertConfigured(this.provider);
    this.assertSold(credits);
    const { topUpCurrency: currency, creditPriceMinor } = this.terms;
    const id = newId();
    const order = {
      id,
      accountId,
      amountMicros: BigInt(credits) * MICROS_PER_CREDIT,
      priceMinor: BigInt(credits) * BigInt(creditPriceMinor),
      currency,
    };
    if (!(await this.store.insert(this.database, provider.name, order, MOST_UNPAID))) {
      throw new Refusal(
        'rate_limited',
        `This account has started ${MOST_UNPAID} top-ups within an hour and paid none of them.`,
        {
          retryAfterSeconds: HOUR_SECONDS,
        },
      );
    }
    try {
      const { reference, url } = await provider.openCheckout(order, withTopUp(returnUrl, id));
      await this.store.setCheckout(this.database, accountId, id, reference, url);
    } catch (error) {
      // The checkout may exist anyway; a payment on it counts.
      await this.store.setStatus(this.database, id, ['open'], 'failed');
      throw new Error('the payment provider opened no checkout', { cause: error });
    }
    return this.get(accountId, id);
  }

  /** @throws Refusal `not_found`. */
  async get(accountId: string, id: string): Promise<TopUp> {
    const topUp = await this.store.find(this.database, accountId, id);
    if (topUp === null) throw new Refusal('not_found', `There is no top-up ${id}.`);
    return topUp;
  }

  private assertSold(credits: number): void {
    const { topUpMinCredits: least, topUpMaxCredits: most } = this.terms;
    if (credits >= least && credits <= most) return;
    throw Refusal.ofFields([{ field: 'credits', reason: `must be from ${least} to ${most}` }]);
  }
}

/** Names the top-up to the page that the payer returns to. */
function withTopUp(returnUrl: string, id: string): string {
  const url = new URL(returnUrl);
  url.searchParams.set('top_up', id);
  return url.href;
}
