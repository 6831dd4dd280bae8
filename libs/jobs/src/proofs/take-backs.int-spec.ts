import { composeTopUps } from '@millrace/billing';
import { ScriptedPayments, createTestDatabase, testBilling, type TestDatabase } from '@millrace/testing';
import { CreditJobs } from '../fixtures/credit-jobs';

const TERMS = { topUpCurrency: 'usd', creditPriceMinor: 100, topUpMinCredits: 1, topUpMaxCredits: 100 };
const CREDIT = 1_000_000n;

const provider = new ScriptedPayments();
let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase(2);
});
afterAll(() => test.drop());

/** Something that the provider reports of the account's payments. */
const receive = (notice: Parameters<ScriptedPayments['bodyOf']>[0]): Promise<void> =>
  testBilling(test.database, provider).payments.receive(provider.bodyOf(notice), undefined, () => Promise.resolve());

/** @returns the top-up. */
async function buy({ accountId }: CreditJobs, credits: number): Promise<string> {
  const topUp = await composeTopUps(test.database, provider, TERMS).open(accountId, credits, 'https://shop.example/');
  const { id, priceMinor: amountMinor, currency } = topUp;
  const payment = { checkoutRef: `cs_${id}`, paymentRef: `pi_${id}`, amountMinor, currency, order: null };
  await receive({ kind: 'paid', id: `evt_${id}`, topUpId: id, ...payment });
  return id;
}

async function refund(topUpId: string, credits: number): Promise<void> {
  const reversal = { paymentRef: `pi_${topUpId}`, amountMinor: BigInt(credits) * 100n, currency: 'usd', undone: false };
  await receive({ kind: 'reversal', id: `evt_re_${topUpId}`, reversal: { id: `re_${topUpId}`, ...reversal } });
}

/** Jobs use so many credits. */
async function spend(jobs: CreditJobs, micros: bigint): Promise<void> {
  await jobs.submit(micros, micros);
  const claimed = await jobs.start();
  if (claimed === null) throw new Error('nothing was claimed');
  await jobs.end(claimed, 1_000, 'succeeded');
}

/** The account's transactions of a kind, the first one first. */
async function transactions({ accountId }: CreditJobs, kind: string): Promise<string[]> {
  const rows = await test.database.models.ledgerTransaction.findMany({
    where: { accountId, kind },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ id }) => id);
}

async function one(jobs: CreditJobs, kind: string): Promise<string> {
  const [id] = await transactions(jobs, kind);
  if (id === undefined) throw new Error(`there is no ${kind}`);
  return id;
}

const available = async (jobs: CreditJobs): Promise<bigint> => (await jobs.balance()).availableMicros;

describe('an operator who takes back a grant', () => {
  it.each(['by its id', 'of the grants at large'])(
    'takes none of what was paid for when it is spent: %s',
    async (how) => {
      const jobs = await CreditJobs.make(test, 10n * CREDIT);
      await spend(jobs, 10n * CREDIT);
      const topUp = await buy(jobs, 50);
      const corrects = how === 'by its id' ? await one(jobs, 'grant') : null;
      const taken = jobs.adjust({ amountMicros: -10n * CREDIT, corrects });
      await expect(taken).rejects.toMatchObject({ code: 'invalid_request' });
      await expect(taken).rejects.toThrow('amount_micros: is more than what is left of');
      await expect(taken).rejects.toThrow(': 0 credits');
      expect(await available(jobs)).toBe(50n * CREDIT);
      await refund(topUp, 50);
      expect(await test.database.models.topUp.findUnique({ where: { id: topUp } })).toMatchObject({ owedMicros: 0n });
      await buy(jobs, 5);
      await testBilling(test.database).payments.collect(topUp);
      expect(await available(jobs)).toBe(5n * CREDIT);
      expect(await jobs.findings()).toEqual([]);
    },
  );

  it('takes what is left of it, and the answer to more says how much that is', async () => {
    const jobs = await CreditJobs.make(test, 10n * CREDIT);
    await buy(jobs, 50);
    await spend(jobs, 4n * CREDIT);
    const corrects = await one(jobs, 'grant');
    await expect(jobs.adjust({ amountMicros: -7n * CREDIT, corrects })).rejects.toThrow(': 6 credits');
    await jobs.adjust({ amountMicros: -6n * CREDIT, corrects });
    expect(await available(jobs)).toBe(50n * CREDIT);
    expect(await jobs.findings()).toEqual([]);
  });

  it('takes nothing of it that a job holds, which would be charged to what was paid for then', async () => {
    const jobs = await CreditJobs.make(test, 10n * CREDIT);
    await buy(jobs, 50);
    const held = await jobs.submit(8n * CREDIT, CREDIT);
    const corrects = await one(jobs, 'grant');
    await expect(jobs.adjust({ amountMicros: -10n * CREDIT, corrects })).rejects.toThrow(': 2 credits');
    await expect(jobs.adjust({ amountMicros: -10n * CREDIT })).rejects.toThrow(': 2 credits');
    await jobs.cancelQueued(held ?? '');
    await jobs.adjust({ amountMicros: -10n * CREDIT, corrects });
    expect(await available(jobs)).toBe(50n * CREDIT);
    expect(await jobs.findings()).toEqual([]);
  });
});
