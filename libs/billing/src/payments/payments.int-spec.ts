import { Prisma } from '@prisma/client';
import fc from 'fast-check';
import {
  ScriptedPayments,
  createTestDatabase,
  makeAccount,
  testBilling,
  undoNext,
  type TestDatabase,
} from '@millrace/testing';
import { composeTopUps } from '../composition';
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

/** Up to three refunds and disputes of a payment of 700 cents, and an order in which all messages arrive, some of them twice. */
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

describe('the messages of a payment provider', () => {
  it('have the same result in any order and any number of times', async () => {
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

describe('a message whose transaction PostgreSQL undoes so that others go on', () => {
  it.each([
    ['top_ups', '40P01'],
    ['payment_events', '40001'],
    ['ledger_entries', '40P01'],
    ['balances', '40001'],
  ] as const)('counts once, also when it comes again: %s, %s', async (table, sqlstate) => {
    const provider = new ScriptedPayments();
    const billing = testBilling(test.database, provider);
    const accountId = await makeAccount(test.database);
    const topUp = await composeTopUps(test.database, provider, TERMS).open(accountId, 100, 'https://shop.example/');
    const receive = (event: string): Promise<void> => {
      const notice = noticeFor(topUp.id, topUp.priceMinor, [{ minor: 70, failed: false }], event);
      return billing.payments.receive(provider.bodyOf(notice), undefined, () => Promise.resolve());
    };
    const written = await undoNext(test.database, table, sqlstate);
    await receive('paid');
    expect(await written()).toBeGreaterThan(1);
    expect(await billing.credits.balance(accountId)).toMatchObject({ availableMicros: topUp.amountMicros });
    await receive('paid');
    expect(await billing.credits.balance(accountId)).toMatchObject({ availableMicros: topUp.amountMicros });
    expect(await test.database.models.paymentEvent.count({ where: { topUpId: topUp.id } })).toBe(1);
    const undone = await undoNext(test.database, 'payment_reversals', sqlstate);
    await receive('made 0');
    expect(await undone()).toBe(2);
    await receive('made 0');
    const left = topUp.amountMicros - reversedMicros(topUp, 70n);
    expect(await billing.credits.balance(accountId)).toMatchObject({ availableMicros: left });
    const found = [];
    for await (const finding of billing.audit.findings()) found.push(finding);
    expect(found).toEqual([]);
  });
});

describe('the records of payments', () => {
  it('are kept for good: the database deletes none, and changes no message', async () => {
    const provider = new ScriptedPayments();
    const { payments } = testBilling(test.database, provider);
    const topUps = composeTopUps(test.database, provider, TERMS);
    const topUp = await topUps.open(await makeAccount(test.database), 100, 'https://shop.example/');
    for (const event of ['paid', 'made 0']) {
      const notice = noticeFor(topUp.id, topUp.priceMinor, [{ minor: 1, failed: false }], event);
      await payments.receive(provider.bodyOf(notice), undefined, () => Promise.resolve());
    }
    for (const table of ['payment_events', 'payment_reversals', 'top_ups'])
      await expect(test.database.execute(Prisma.sql`DELETE FROM ${Prisma.raw(table)}`)).rejects.toThrow(table);
    const renamed = test.database.execute(Prisma.sql`UPDATE payment_events SET kind = 'expired'`);
    await expect(renamed).rejects.toThrow('only appended to');
  });

  it('prove every payment: a top-up that is paid without a message of its provider is found', async () => {
    const provider = new ScriptedPayments();
    const billing = testBilling(test.database, provider);
    const accountId = await makeAccount(test.database, { micros: 5_000_000n });
    const topUp = await composeTopUps(test.database, provider, TERMS).open(accountId, 5, 'https://shop.example/');
    await test.database.execute(Prisma.sql`
      UPDATE top_ups SET status = 'paid', paid_at = now(),
        transaction_id = (SELECT id FROM ledger_transactions WHERE account_id = ${accountId}::uuid)
      WHERE id = ${topUp.id}::uuid`);
    const found = [];
    for await (const { check, subject } of billing.audit.findings()) found.push({ check, subject });
    expect(found).toContainEqual({ check: 'payment-is-recorded', subject: topUp.id });
  });
});

/** A notice that is sent again has the id of the first one, like a second delivery of the provider. */
function noticeFor(topUpId: string, priceMinor: bigint, refunds: Refund[], event: string): PaymentNotice {
  const [what, index] = event.replace('again ', '').split(' ');
  const id = `evt_${topUpId}_${what}_${index}`;
  const paymentRef = `pi_${topUpId}`;
  const money = { paymentRef, currency: 'usd' };
  if (what === 'paid') {
    return { kind: 'paid', id, topUpId, checkoutRef: `cs_${topUpId}`, amountMinor: priceMinor, order: null, ...money };
  }
  const { minor, failed } = refunds[Number(index)] ?? { minor: 0, failed: true };
  const reversal = { id: `re_${topUpId}_${index}`, amountMinor: BigInt(minor), ...money };
  return { kind: 'reversal', id, reversal: { ...reversal, undone: what === 'ended' && failed } };
}
