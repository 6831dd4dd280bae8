import { z } from 'zod';
import { SettingsError, integer, secretSetting, setting, type SettingsOf } from '@millrace/platform';
import type { PaymentProvider } from './payment-provider';
import { StripePaymentProvider } from './stripe.payment-provider';

export const paymentSettings = {
  stripeSecretKey: secretSetting(
    'STRIPE_SECRET_KEY',
    'Secret or restricted key of the Stripe account that collects payments for credits. Unset: credits are not sold.',
    z
      .string()
      .regex(/^(sk|rk)_\w+$/, 'must be a secret (sk_...) or restricted (rk_...) key')
      .optional(),
  ),
  stripeWebhookSecrets: secretSetting(
    'STRIPE_WEBHOOK_SECRET',
    'Signing secret of the webhook endpoint at Stripe; two, with a comma between, while one replaces the other.',
    z
      .string()
      .regex(/^whsec_[^\s,]+(,whsec_[^\s,]+)*$/, 'must be a signing secret (whsec_...), or several with commas between')
      .transform((text) => text.split(','))
      .optional(),
  ),
  stripeApiUrl: setting(
    'STRIPE_API_URL',
    "Origin of Stripe's API. Set it to use a proxy or a test server.",
    z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).default('https://api.stripe.com'),
  ),
  topUpCurrency: setting(
    'TOP_UP_CURRENCY',
    'Currency in which credits are sold, as an ISO 4217 code in lower case.',
    z
      .string()
      .regex(/^[a-z]{3}$/, 'must be three lower-case letters, such as usd')
      .default('usd'),
  ),
  creditPriceMinor: setting(
    'CREDIT_PRICE_MINOR',
    'Price of one credit in the smallest unit of the currency, e.g. in cents.',
    integer({ min: 1, max: 1_000_000 }).default(100),
  ),
  topUpMinCredits: setting(
    'TOP_UP_MIN_CREDITS',
    'Fewest credits of one purchase.',
    integer({ min: 1, max: 1_000_000 }).default(5),
  ),
  topUpMaxCredits: setting(
    'TOP_UP_MAX_CREDITS',
    'Most credits of one purchase.',
    integer({ min: 1, max: 1_000_000 }).default(5_000),
  ),
};
export type PaymentSettings = SettingsOf<typeof paymentSettings>;

/** Stripe collects no more than this in one payment. */
const MOST_MINOR = 99_999_999;

/**
 * The provider that the settings name; null where credits are not sold.
 *
 * @param settings `publicUrl` names this installation in its orders.
 * @throws SettingsError when the settings do not go together.
 */
export async function paymentProviderOf(
  settings: PaymentSettings & { publicUrl?: string | undefined },
): Promise<PaymentProvider | null> {
  const { stripeSecretKey: secretKey, stripeWebhookSecrets: webhookSecrets, stripeApiUrl: apiUrl } = settings;
  if (secretKey === undefined && webhookSecrets === undefined) return null;
  if (secretKey === undefined || webhookSecrets === undefined) {
    throw new SettingsError([
      'Set MILLRACE_STRIPE_SECRET_KEY and MILLRACE_STRIPE_WEBHOOK_SECRET together, or neither.',
    ]);
  }
  if (settings.topUpMinCredits > settings.topUpMaxCredits) {
    throw new SettingsError(['MILLRACE_TOP_UP_MIN_CREDITS is more than MILLRACE_TOP_UP_MAX_CREDITS.']);
  }
  if (settings.topUpMaxCredits * settings.creditPriceMinor > MOST_MINOR) {
    throw new SettingsError([
      `MILLRACE_TOP_UP_MAX_CREDITS at MILLRACE_CREDIT_PRICE_MINOR cost more than ${MOST_MINOR}, the most that Stripe collects at once.`,
    ]);
  }
  const installation = settings.publicUrl ?? null;
  return StripePaymentProvider.load({ secretKey, webhookSecrets, apiUrl, installation });
}
