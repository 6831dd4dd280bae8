import fc from 'fast-check';
import { ScriptedPayments, createTestDatabase, makeAccount, testBilling, type TestDatabase } from '@millrace/testing';
import { composeTopUps } from './composition';
import { reversedMicros, type PaymentNotice } from './top-up';

const TERMS = { topUpCurrency: 'usd', creditPriceMinor: 7, topUpMinCredits: 1, topUpMaxCredits: 100 };
const RUNS = 30;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

interface Refund {
  minor: number;
  failed: boolean;
}

/** Up to three refunds and disputes of a payment of 700 cents, and an order in which all is told, some of it twice. */
const story = fc
  .array(fc.record({ minor: fc.integer({ min: 1, max: 400 }), failed: fc.boolean() }), { maxLength: 3 })
  .chain((refunds) => {
    const events = ['paid', ...refunds.flatMap((_, n) => [`made ${n}`, `ended ${n}`])];
    const twice = fc.shuffledSubarray([...events, ...events.map((event) => `again ${event}`)], { minLength: 0 });
    return fc.record({
      refunds: fc.constant(refunds),
      order: twice.map((some) => [...some, ...events.filter((event) => !some.includes(event))]),
    });
  });

describe('what a payment provider tells', () => {
  it('comes to the same in whatever order and however often it is told', async () => {
    const provider = new ScriptedPayments();
    const billing = testBilling(test.database, provider);
    const topUps = composeTopUps(test.database, provider, TERMS);
    await fc.assert(
      fc.asyncProperty(story, async ({ refunds, order }) => {
        const accountId = await makeAccount(test.database);
        const topUp = await topUps.open(accountId, 100, 'https://shop.example/');
        for (const event of order) {
          const notice = noticeFor(topUp.id, topUp.priceMinor, refunds, event);
          await billing.payments.receive(provider.bodyOf(notice), undefined, () => Promise.resolve());
        }
        const gone = refunds.reduce((sum, { minor, failed }) => sum + (failed ? 0 : minor), 0);
        const { availableMicros } = await billing.credits.balance(accountId);
        expect(availableMicros).toBe(topUp.amountMicros - reversedMicros(topUp, BigInt(gone)));
      }),
      { numRuns: RUNS },
    );
    const found = [];
    for await (const finding of billing.audit.findings()) found.push(finding);
    expect(found).toEqual([]);
  });
});

/** Telling again has the id of the first time, as the provider's own second delivery has. */
function noticeFor(topUpId: string, priceMinor: bigint, refunds: Refund[], event: string): PaymentNotice {
  const [what, index] = event.replace('again ', '').split(' ');
  const id = `evt_${topUpId}_${what}_${index}`;
  const paymentRef = `pi_${topUpId}`;
  const money = { paymentRef, currency: 'usd' };
  if (what === 'paid') {
    return { kind: 'paid', id, topUpId, checkoutRef: `cs_${topUpId}`, amountMinor: priceMinor, ...money };
  }
  const { minor, failed } = refunds[Number(index)] ?? { minor: 0, failed: true };
  const reversal = { id: `re_${topUpId}_${index}`, amountMinor: BigInt(minor), ...money };
  return { kind: 'reversal', id, reversal: { ...reversal, undone: what === 'ended' && failed } };
}
