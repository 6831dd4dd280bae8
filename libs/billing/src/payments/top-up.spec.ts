import fc from 'fast-check';
import { SettingsError, readSettings } from '@millrace/platform';
import { paymentProviderOf, paymentSettings } from './payment.settings';
import { noticeOf } from './stripe-notice';
import { reversedMicros } from './top-up';

describe('credits whose money goes back', () => {
  it('are the same share, never more than were bought, and all of them with all of the money', () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 13n });
    const price = fc.bigInt({ min: 1n, max: 99_999_999n });
    fc.assert(
      fc.property(amount, price, fc.nat({ max: 1_000 }), fc.nat({ max: 1_000 }), (amountMicros, priceMinor, a, b) => {
        const order = { amountMicros, priceMinor };
        const back = (share: number): bigint => reversedMicros(order, (priceMinor * BigInt(share)) / 1_000n);
        expect([back(0), back(1_000), reversedMicros(order, priceMinor * 2n)]).toEqual([
          0n,
          amountMicros,
          amountMicros,
        ]);
        const [less, more] = [back(Math.min(a, b)), back(Math.max(a, b))];
        expect(less <= more && more <= amountMicros).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('an event of Stripe', () => {
  it('of a kind that means nothing here is ignored, with any content', () => {
    const kinds = ['invoice.paid', 'charge.succeeded', 'charge.dispute.created', 'payment_intent.succeeded', 'x'];
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.json(), (type, text) => {
        const data = { object: JSON.parse(text) as unknown };
        expect(noticeOf({ id: 'evt_1', type, data })).toEqual({ kind: 'other', id: 'evt_1' });
      }),
    );
  });

  it('names a payment by its id, whether Stripe sends that or the whole object', () => {
    const refund = { id: 're_1', amount: 5, currency: 'usd', status: 'succeeded' };
    for (const payment_intent of ['pi_1', { id: 'pi_1', object: 'payment_intent' }]) {
      const event = { id: 'evt_1', type: 'refund.created', data: { object: { ...refund, payment_intent } } };
      expect(noticeOf(event)).toMatchObject({ kind: 'reversal', reversal: { paymentRef: 'pi_1', amountMinor: 5n } });
    }
  });
});

describe('settings of payments', () => {
  const keys = { MILLRACE_STRIPE_SECRET_KEY: 'sk_test_1', MILLRACE_STRIPE_WEBHOOK_SECRET: 'whsec_1' };
  const provider = (env: Record<string, string>) => paymentProviderOf(readSettings(paymentSettings, env));

  it('that are not there sell nothing', async () => {
    expect(await provider({})).toBeNull();
    expect(await provider(keys)).toMatchObject({ name: 'stripe' });
  });

  it.each([
    ['MILLRACE_STRIPE_WEBHOOK_SECRET together', { MILLRACE_STRIPE_SECRET_KEY: 'sk_test_1' }],
    ['MILLRACE_STRIPE_SECRET_KEY and', { MILLRACE_STRIPE_WEBHOOK_SECRET: 'whsec_1' }],
    [
      'is more than MILLRACE_TOP_UP_MAX_CREDITS',
      { ...keys, MILLRACE_TOP_UP_MIN_CREDITS: '9', MILLRACE_TOP_UP_MAX_CREDITS: '8' },
    ],
    ['the most that Stripe collects', { ...keys, MILLRACE_CREDIT_PRICE_MINOR: '100000' }],
  ])('that do not go together stop the boot: %s', async (sentence, env) => {
    await expect(provider(env)).rejects.toThrow(SettingsError);
    await expect(provider(env)).rejects.toThrow(sentence);
  });

  it('that are no keys stop the boot without being printed', () => {
    const read = (): unknown => readSettings(paymentSettings, { ...keys, MILLRACE_STRIPE_SECRET_KEY: 'pk_live_abc' });
    expect(read).toThrow('must be a secret');
    expect(read).not.toThrow('pk_live_abc');
  });
});
