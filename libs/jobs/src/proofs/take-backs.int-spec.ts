import { Prisma } from '@prisma/client';
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

async function refundOfJob(): Promise<{ jobs: CreditJobs; settle: string; refunded: string }> {
  const jobs = await CreditJobs.make(test);
  await buy(jobs, 50);
  await spend(jobs, 20n * CREDIT);
  const settle = await one(jobs, 'settle');
  await jobs.adjust({ amountMicros: 20n * CREDIT, corrects: settle });
  return { jobs, settle, refunded: await one(jobs, 'correction') };
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

describe('an operator who gave back a charge by mistake', () => {
  it('charges it again, can give it back again, and no more than was charged', async () => {
    const { jobs, settle, refunded } = await refundOfJob();
    await expect(jobs.adjust({ amountMicros: -21n * CREDIT, corrects: refunded })).rejects.toThrow(': 20 credits');
    await jobs.adjust({ amountMicros: -5n * CREDIT, corrects: refunded });
    await jobs.adjust({ amountMicros: -15n * CREDIT, corrects: refunded });
    await expect(jobs.adjust({ amountMicros: -1n, corrects: refunded })).rejects.toThrow(': 0 credits');
    expect(await available(jobs)).toBe(30n * CREDIT);
    expect(await jobs.findings()).toEqual([]);
    await jobs.adjust({ amountMicros: 20n * CREDIT, corrects: settle });
    await expect(jobs.adjust({ amountMicros: 1n, corrects: settle })).rejects.toThrow(': 0 credits');
    expect(await available(jobs)).toBe(50n * CREDIT);
    expect(await jobs.findings()).toEqual([]);
  });

  it('charges again no more than is available, also where what was given back is spent', async () => {
    const { jobs, refunded } = await refundOfJob();
    await spend(jobs, 38n * CREDIT);
    await jobs.submit(2n * CREDIT, CREDIT);
    await expect(jobs.adjust({ amountMicros: -11n * CREDIT, corrects: refunded })).rejects.toThrow(': 10 credits');
    await jobs.adjust({ amountMicros: -10n * CREDIT, corrects: refunded });
    expect(await jobs.balance()).toEqual({ availableMicros: 0n, heldMicros: 2n * CREDIT });
    expect(await jobs.findings()).toEqual([]);
  });

  it('charges it again once under one key, and once of two who do so at once', async () => {
    const { jobs, refunded } = await refundOfJob();
    const part = { amountMicros: -5n * CREDIT, corrects: refunded, key: 'k' };
    await Promise.all([jobs.adjust(part), jobs.adjust(part)]);
    await jobs.adjust(part);
    expect(await available(jobs)).toBe(45n * CREDIT);
    const rest = { amountMicros: -15n * CREDIT, corrects: refunded };
    const both = await Promise.allSettled([jobs.adjust(rest), jobs.adjust(rest)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await available(jobs)).toBe(30n * CREDIT);
    expect(await jobs.findings()).toEqual([]);
  });

  it('cannot charge again what is charged again: that is given back of the settlement', async () => {
    const { jobs, refunded } = await refundOfJob();
    await jobs.adjust({ amountMicros: -20n * CREDIT, corrects: refunded });
    const again = (await transactions(jobs, 'correction')).find((id) => id !== refunded) ?? '';
    for (const amountMicros of [-1n, 1n])
      await expect(jobs.adjust({ amountMicros, corrects: again })).rejects.toThrow('corrects: must be');
  });
});

it('the audit finds a refund of which more is charged again than was given back', async () => {
  const { jobs, settle, refunded } = await refundOfJob();
  await jobs.adjust({ amountMicros: -20n * CREDIT, corrects: refunded });
  await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`UPDATE ledger_entries SET amount_micros = amount_micros + 1
      WHERE transaction_id = ${refunded}::uuid`);
    await tx.execute(Prisma.sql`UPDATE ledger_entries SET amount_micros = amount_micros + 2
      WHERE from_book = 'available' AND to_book = 'revenue'
        AND transaction_id IN (SELECT id FROM ledger_transactions WHERE corrects = ${refunded}::uuid)`);
  });
  const found = (await jobs.findings()).filter(({ check }) => check === 'correction-within-original');
  expect(found.map(({ subject }) => subject).sort()).toEqual([settle, refunded].sort());
});
