import { Prisma } from '@prisma/client';
import { newId, Refusal } from '@millrace/contracts';
import type { Finding } from '@millrace/platform';
import { ScriptedPayments, createTestDatabase, makeAccount, testBilling, type TestDatabase } from '@millrace/testing';
import { composeTopUps, type Billing } from '../composition';
import type { KeptOrder, PaidNotice, TopUp } from './top-up';

const TERMS = { topUpCurrency: 'usd', creditPriceMinor: 7, topUpMinCredits: 1, topUpMaxCredits: 100 };

const provider = new ScriptedPayments();
let test: TestDatabase;
let billing: Billing;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase();
  billing = testBilling(test.database, provider);
});
beforeEach(async () => {
  accountId = await makeAccount(test.database);
});
afterAll(() => test.drop());

const order = (): Promise<TopUp> =>
  composeTopUps(test.database, provider, TERMS).open(accountId, 100, 'https://shop.example/');

/** The message that an order was paid, with what the checkout keeps of it. */
function paid({ id, amountMicros, priceMinor, currency }: TopUp, kept: Partial<KeptOrder> | null = {}): PaidNotice {
  const all = { installation: provider.installation, accountId, amountMicros, priceMinor, currency };
  const payment = { checkoutRef: `cs_${id}`, paymentRef: `pi_${id}`, amountMinor: priceMinor, currency };
  return { kind: 'paid', id: `evt_${id}`, topUpId: id, ...payment, order: kept && { ...all, ...kept } };
}

const receive = (notice: PaidNotice): Promise<void> =>
  billing.payments.receive(provider.bodyOf(notice), undefined, () => Promise.resolve());
const available = async (): Promise<bigint> => (await billing.credits.balance(accountId)).availableMicros;
const events = (topUpId: string): Promise<number> => test.database.models.paymentEvent.count({ where: { topUpId } });

/** As a restore to a time before the order leaves it: nothing else of the account has changed since. */
async function lose({ id }: TopUp): Promise<void> {
  await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`DELETE FROM top_ups WHERE id = ${id}::uuid`);
  });
}

async function lostOrder(): Promise<TopUp> {
  const topUp = await order();
  await lose(topUp);
  return topUp;
}

async function findings(): Promise<Finding[]> {
  const found = [];
  for await (const finding of billing.audit.findings()) found.push(finding);
  return found;
}

describe('the payment of an order that a restore has lost', () => {
  it('adds its credits once, however often it is sent again, also at once', async () => {
    const topUp = await lostOrder();
    await Promise.all([
      receive(paid(topUp)),
      receive(paid(topUp)),
      receive({ ...paid(topUp), id: `other_${topUp.id}` }),
    ]);
    await receive(paid(topUp));
    expect(await available()).toBe(topUp.amountMicros);
    expect(await billing.payments.collect(topUp.id)).toBe(false);
    expect(await findings()).toEqual([]);
  });

  it('takes back what a refund called for meanwhile', async () => {
    const topUp = await lostOrder();
    const reversal = {
      id: `re_${topUp.id}`,
      paymentRef: `pi_${topUp.id}`,
      amountMinor: 70n,
      currency: 'usd',
      undone: false,
    };
    await billing.payments.receive(
      provider.bodyOf({ kind: 'reversal', id: `evt_re_${topUp.id}`, reversal }),
      undefined,
      () => Promise.resolve(),
    );
    await receive(paid(topUp));
    expect(await available()).toBe((topUp.amountMicros * 9n) / 10n);
    expect(await findings()).toEqual([]);
  });

  it('adds nothing where another amount was paid than ordered', async () => {
    const topUp = await lostOrder();
    await receive({ ...paid(topUp), amountMinor: topUp.priceMinor - 1n });
    expect(await available()).toBe(0n);
    const { status } = await test.database.models.topUp.findUniqueOrThrow({ where: { id: topUp.id } });
    expect(status).toBe('refused');
  });

  it('counts, too, where its message was recorded without the order, which the audit finds until then', async () => {
    const topUp = await lostOrder();
    const event = { provider: 'stripe', id: `evt_${topUp.id}`, kind: 'paid', topUpId: topUp.id };
    await test.database.models.paymentEvent.create({ data: event });
    expect(await findings()).toMatchObject([{ check: 'payment-has-its-order', subject: topUp.id }]);
    await receive(paid(topUp));
    await receive(paid(topUp));
    expect(await available()).toBe(topUp.amountMicros);
    expect(await findings()).toEqual([]);
  });

  it('is not recorded where its message does not say what was ordered, and counts once the order is there', async () => {
    const topUp = await lostOrder();
    await receive(paid(topUp, null));
    expect(await events(topUp.id)).toBe(0);
    const { id, priceMinor, amountMicros, currency } = topUp;
    const row = { id, accountId, provider: 'stripe', priceMinor, amountMicros, currency };
    await test.database.models.topUp.create({ data: row });
    await receive(paid(topUp, null));
    expect(await available()).toBe(topUp.amountMicros);
  });

  it('is refused and not recorded where its account is lost, too, so that it is sent again', async () => {
    const topUp = await lostOrder();
    const lostAccount = newId();
    const received = receive(paid(topUp, { accountId: lostAccount }));
    await expect(received).rejects.toThrow(`the account ${lostAccount}, which does not exist`);
    await expect(received).rejects.toMatchObject({ code: 'not_found' });
    expect(await events(topUp.id)).toBe(0);
  });

  it('is acknowledged and not recorded where the order is of another installation', async () => {
    const topUp = await lostOrder();
    await receive(paid(topUp, { accountId: newId(), installation: 'https://staging.example' }));
    expect([await events(topUp.id), await available()]).toEqual([0, 0n]);
  });

  it('is refused where the account is here and the order names another installation: the service may have moved', async () => {
    const topUp = await lostOrder();
    const received = receive(paid(topUp, { installation: 'https://former.example' }));
    await expect(received).rejects.toBeInstanceOf(Refusal);
    await expect(received).rejects.toThrow('set MILLRACE_PUBLIC_URL to what it was');
    expect([await events(topUp.id), await available()]).toEqual([0, 0n]);
  });
});
