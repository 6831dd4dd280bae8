import { Refusal } from '@millrace/contracts';
import type { PaymentNotice, PaymentProviderName, TopUpOrder } from './top-up';

/** A page of the provider on which an order is paid. */
export interface Checkout {
  /** The provider's id of it. */
  reference: string;
  url: string;
}

/** A provider that collects payments for us and reports them in signed messages. */
export interface PaymentProvider {
  readonly name: PaymentProviderName;
  /** Public origin of this service, which is kept with each order: others may use the same account of the provider. Null: none is set. */
  readonly installation: string | null;

  /**
   * Open a checkout. Calling it twice for one order opens one.
   *
   * @param returnUrl where the payer is sent afterwards, paid or not.
   * @throws any error of the provider or of the network; the checkout may then exist or not.
   */
  openCheckout(order: TopUpOrder, returnUrl: string): Promise<Checkout>;

  /**
   * Read a message that claims to come from the provider.
   *
   * @param body its bytes as they arrived, which are signed.
   * @throws Refusal `invalid_request` when the signature does not fit, or is too old.
   */
  readNotice(body: Buffer, signature: string | undefined): PaymentNotice;
}

/** @throws Refusal `payments_not_configured` where there is no provider. */
export function assertConfigured(provider: PaymentProvider | null): PaymentProvider {
  if (provider !== null) return provider;
  throw new Refusal('payments_not_configured', 'This service sells no credits; ask its operator for some.');
}
