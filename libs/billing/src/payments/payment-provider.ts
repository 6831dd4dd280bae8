import { Refusal } from '@millrace/contracts';
import type { PaymentNotice, PaymentProviderName, TopUpOrder } from './top-up';

/** A page of the provider on which an order is paid. */
export interface Checkout {
  /** The provider's name of it. */
  reference: string;
  url: string;
}

/** Somebody who collects payments for us and tells us of them in signed messages. */
export interface PaymentProvider {
  readonly name: PaymentProviderName;

  /**
   * Open a checkout. Asking twice for one order opens one.
   *
   * @param returnUrl where the payer is sent afterwards, however it went.
   * @throws whatever keeps the provider from it; the checkout may then exist or not.
   */
  openCheckout(order: TopUpOrder, returnUrl: string): Promise<Checkout>;

  /**
   * Read a message that claims to come from the provider.
   *
   * @param body its bytes as they came: the signature is over these.
   * @throws Refusal `invalid_request` when the signature does not fit, or is too old.
   */
  readNotice(body: Buffer, signature: string | undefined): PaymentNotice;
}

/** @throws Refusal `payments_not_configured` where there is no provider. */
export function assertConfigured(provider: PaymentProvider | null): PaymentProvider {
  if (provider !== null) return provider;
  throw new Refusal('payments_not_configured', 'This service takes no payments; ask its operator for credits.');
}
