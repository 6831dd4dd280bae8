import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Loop } from '@millrace/platform';
import { createTestDatabase, makeAccount, testBilling, type TestDatabase } from '@millrace/testing';
import { TopUpStore } from '../payments/top-up.store';
import { LotStore } from './lot.store';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const loopOf = (name: string): Loop => {
  const loop = testBilling(test.database).loops.find((one) => one.name === name);
  if (loop === undefined) throw new Error(`there is no loop ${name}`);
  return loop;
};
const available = async (accountId: string): Promise<bigint> =>
  (await testBilling(test.database).credits.balance(accountId)).availableMicros;
/** Accounts whose ids come one after the other, each with 5 micro-credits. */
async function accounts(count: number): Promise<[string, ...string[]]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await makeAccount(test.database, { micros: 5n }));
  return ids.sort() as [string, ...string[]];
}
/** What a sweep meets, two a page. */
async function pageByPage(list: (after: string | null, limit: number) => Promise<string[]>): Promise<string[]> {
  const met: string[] = [];
  const most = 100;
  for (
    let page = await list(null, 2);
    page.length > 0 && met.length < most;
    page = await list(page.at(-1) ?? null, 2)
  ) {
    met.push(...page);
  }
  return met;
}
const failures = (): { items: string[]; report: { failed(item: string): void; resting(): void } } => {
  const items: string[] = [];
  return { items, report: { failed: (item) => void items.push(item), resting: () => undefined } };
};

/** A top-up whose money went back. @param grantOf the account whose grant it names as its own. */
async function owedTopUp(accountId: string, grantOf: string): Promise<string> {
  const { id: transactionId } = await test.database.models.ledgerTransaction.findFirstOrThrow({
    where: { accountId: grantOf, kind: 'grant' },
  });
  const id = newId();
  const order = { provider: 'stripe', amountMicros: 5n, priceMinor: 5n, currency: 'usd', owedMicros: 5n };
  const paid = { status: 'paid', paidAt: new Date(), paymentRef: id, transactionId };
  await test.database.models.topUp.create({ data: { id, accountId, ...order, ...paid } });
  const reversal = { provider: 'stripe', id, paymentRef: id, amountMinor: 5n, undone: false };
  await test.database.models.paymentReversal.create({ data: { ...reversal, currency: 'usd' } });
  return id;
}

it('an account whose credits cannot expire does not keep those of the others', async () => {
  const [poison, ...others] = await accounts(3);
  await test.database.execute(Prisma.sql`UPDATE credit_lots SET expires_at = now() - interval '30 days'`);
  // More has left the account than its lot ever brought: nothing can be drawn.
  await test.database.execute(Prisma.sql`UPDATE balances SET consumed_micros = 100 WHERE account_id = ${poison}::uuid`);
  const { items, report } = failures();
  await loopOf('expire-credits').runOnce(report);
  expect(items).toEqual([poison]);
  expect(await Promise.all(others.map(available))).toEqual([0n, 0n]);
});

it('a top-up whose credits cannot be collected does not keep those of the others', async () => {
  const [poison, other] = (await accounts(2)) as [string, string];
  // The transaction of another account: nothing can be taken back from it.
  const broken = await owedTopUp(poison, (await accounts(1))[0]);
  await owedTopUp(other, other);
  const { items, report } = failures();
  await loopOf('collect-owed-credits').runOnce(report);
  expect(items).toEqual([broken]);
  expect(await available(other)).toBe(0n);
});

it('credits that expire are met page by page, each account once', async () => {
  const due = await accounts(5);
  await test.database.execute(Prisma.sql`
    UPDATE credit_lots SET expires_at = CASE WHEN account_id = ANY(${due}::uuid[]) THEN now() - interval '1 day' END`);
  const lots = new LotStore();
  expect(await pageByPage((after, limit) => lots.listExpired(test.database, after, limit))).toEqual(due);
});

it('credits that are owed are met page by page, each top-up once', async () => {
  await test.database.execute(Prisma.sql`UPDATE top_ups SET owed_micros = 0`);
  const due: string[] = [];
  for (const accountId of await accounts(5)) due.push(await owedTopUp(accountId, accountId));
  const topUps = new TopUpStore();
  expect(await pageByPage((after, limit) => topUps.listOwed(test.database, after, limit))).toEqual(due.sort());
});
