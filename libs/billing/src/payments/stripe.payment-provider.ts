import type Stripe from 'stripe';
import { Refusal } from '@millrace/contracts';
import type { Checkout, PaymentProvider } from './payment-provider';
import { creditsText } from '../price';
import { metadataOf, noticeOf } from './stripe-notice';
import type { PaymentNotice, TopUpOrder } from './top-up';

/** A customer waits for the answer. */
const TIMEOUT_MS = 10_000;
const RETRIES = 2;

export interface StripeAccess {
  secretKey: string;
  /** Secrets of the webhook's endpoint: two while one replaces the other. */
  webhookSecrets: readonly string[];
  /** Origin of Stripe's API. */
  apiUrl: string;
  /** See `PaymentProvider.installation`. */
  installation: string | null;
}

/** Payments through Stripe Checkout. */
export class StripePaymentProvider implements PaymentProvider {
  readonly name = 'stripe';

  private constructor(
    private readonly library: typeof Stripe,
    private readonly client: Stripe,
    private readonly webhookSecrets: readonly string[],
    readonly installation: string | null,
  ) {}

  /**
   * Load Stripe's library and configure it, without a request. Loading takes half a second and 16 MB, so only a process that
   * sells credits does it.
   */
  static async load({ secretKey, webhookSecrets, apiUrl, installation }: StripeAccess): Promise<StripePaymentProvider> {
    const { default: library } = await import('stripe');
    const { protocol, hostname, port } = new URL(apiUrl);
    const client = new library(secretKey, {
      protocol: protocol === 'http:' ? 'http' : 'https',
      host: hostname,
      ...(port === '' ? {} : { port }),
      timeout: TIMEOUT_MS,
      maxNetworkRetries: RETRIES,
      telemetry: false,
    });
    return new StripePaymentProvider(library, client, webhookSecrets, installation);
  }

  async openCheckout(order: TopUpOrder, returnUrl: string): Promise<Checkout> {
    const metadata = metadataOf(order, this.installation);
    const session = await this.client.checkout.sessions.create(
      {
        mode: 'payment',
        client_reference_id: order.id,
        metadata,
        payment_intent_data: { metadata },
        line_items: [
          {
            quantity: 1,
            price_data: {
              currency: order.currency,
              unit_amount: Number(order.priceMinor),
              product_data: { name: `${creditsText(order.amountMicros)} credits` },
            },
          },
        ],
        // What is collected is compared with the order, so it must not be converted to another currency.
        adaptive_pricing: { enabled: false },
        success_url: returnUrl,
        cancel_url: returnUrl,
      },
      { idempotencyKey: order.id },
    );
    if (session.url === null) throw new Error('Stripe opened a checkout without a page');
    return { reference: session.id, url: session.url };
  }

  readNotice(body: Buffer, signature: string | undefined): PaymentNotice {
    if (signature === undefined) throw refusal('There is no Stripe-Signature header.');
    if (!this.webhookSecrets.some((secret) => this.isSigned(body, signature, secret))) {
      throw refusal('The Stripe-Signature does not match the body, or is older than five minutes.');
    }
    return noticeOf(JSON.parse(body.toString('utf8')));
  }

  private isSigned(body: Buffer, signature: string, secret: string): boolean {
    try {
      this.client.webhooks.constructEvent(body, signature, secret);
      return true;
    } catch (error) {
      if (error instanceof this.library.errors.StripeSignatureVerificationError) return false;
      throw error;
    }
  }
}

function refusal(message: string): Refusal {
  return new Refusal('invalid_request', message, { status: 400 });
}
