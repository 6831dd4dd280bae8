import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { CreditJobs } from '../fixtures/credit-jobs';

let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase(3);
});
afterEach(() => test.drop());

/** Run statements as a superuser who gets past every trigger and foreign key. */
async function tamper(...statements: Prisma.Sql[]): Promise<void> {
  await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    for (const statement of statements) await tx.execute(statement);
  });
}

/** An account with a job that was charged 5,000 micro-credits, and one that still runs. */
async function sound(): Promise<{ jobs: CreditJobs; charged: string; live: string }> {
  const jobs = await CreditJobs.make(test, 1_000_000n);
  const charged = await jobs.submit(30_000n, 1_000n);
  const claimed = await jobs.start();
  if (claimed === null || charged === null) throw new Error('nothing ran');
  await jobs.end(claimed, 5_000, 'succeeded');
  const live = await jobs.submit(20_000n, 1_000n);
  if (live === null) throw new Error('nothing was submitted');
  return { jobs, charged, live };
}

const checksOf = async (jobs: CreditJobs): Promise<string[]> => [
  ...new Set((await jobs.findings()).map((finding) => `${finding.check} ${finding.subject}`)),
];

describe('the audit of the ledger', () => {
  it('finds nothing where nothing is wrong', async () => {
    const { jobs } = await sound();
    expect(await jobs.findings()).toEqual([]);
  });

  it('finds an imbalance between a balance and its entries', async () => {
    const { jobs } = await sound();
    await tamper(
      Prisma.sql`UPDATE balances SET available_micros = available_micros + 7 WHERE account_id = ${jobs.accountId}::uuid`,
    );
    expect(await checksOf(jobs)).toEqual([`balance-is-sum ${jobs.accountId}`, `lots-are-balance ${jobs.accountId}`]);
  });

  it('finds an entry that moves what its kind cannot move, and a transaction that moves nothing', async () => {
    const { jobs, charged } = await sound();
    await tamper(
      Prisma.sql`UPDATE ledger_entries SET from_book = 'payments' WHERE to_book = 'revenue'`,
      Prisma.sql`DELETE FROM ledger_entries e USING ledger_transactions t
        WHERE t.id = e.transaction_id AND t.kind = 'hold' AND t.job_id = ${charged}::uuid`,
    );
    const found = (await jobs.findings()).filter(({ check }) => check === 'sum-zero').map(({ detail }) => detail);
    expect(found.sort()).toEqual([
      'A settle moves 5000 from payments to revenue.',
      'The transaction (hold) moves nothing.',
    ]);
  });

  it('finds the orphan hold of a job that has ended, and of one that is gone', async () => {
    const { jobs, charged, live } = await sound();
    await tamper(
      Prisma.sql`DELETE FROM jobs WHERE id = ${live}::uuid`,
      Prisma.sql`DELETE FROM ledger_entries e USING ledger_transactions t
        WHERE t.id = e.transaction_id AND t.kind = 'settle'`,
      Prisma.sql`DELETE FROM ledger_transactions WHERE kind = 'settle'`,
    );
    const found = (await jobs.findings()).filter(({ check }) => check === 'orphan-hold');
    expect(found.map(({ subject, detail }) => [subject, detail]).sort()).toEqual(
      [
        [charged, '30000 micro-credits are held for a job that is succeeded.'],
        [live, '20000 micro-credits are held for a job that does not exist.'],
      ].sort(),
    );
  });

  it('finds a double charge', async () => {
    const { jobs, charged } = await sound();
    const id = newId();
    await tamper(
      Prisma.sql`INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor)
        VALUES (${id}::uuid, ${jobs.accountId}::uuid, 'settle', ${charged}::uuid, 'twice', 'test')`,
      Prisma.sql`INSERT INTO ledger_entries VALUES (${id}::uuid, 1, 'held', 'revenue', 5000)`,
    );
    const found = (await jobs.findings()).filter(({ subject }) => subject === charged).map(({ check }) => check);
    expect(found).toEqual(
      expect.arrayContaining(['one-end-per-hold', 'one-charge-per-job', 'hold-ends-whole', 'job-agrees']),
    );
  });

  it('finds a charge beyond its hold, and usage that nobody was charged for', async () => {
    const { jobs, charged } = await sound();
    await tamper(
      Prisma.sql`UPDATE ledger_entries SET amount_micros = 40000 WHERE to_book = 'revenue'`,
      Prisma.sql`UPDATE usage_records SET charged_micros = 1 WHERE job_id = ${charged}::uuid`,
    );
    const found = (await jobs.findings()).filter(({ subject }) => subject === charged).map(({ check }) => check);
    expect(found).toEqual(expect.arrayContaining(['charge-within-hold', 'usage-is-charged']));
  });

  it('finds a balance below zero, a lot that lost something, and a take-back of more than there was', async () => {
    const { jobs } = await sound();
    const [grant] = await test.database.query<{ id: string }>(
      Prisma.sql`SELECT id FROM ledger_transactions WHERE kind = 'grant'`,
    );
    const id = newId();
    await tamper(
      Prisma.sql`ALTER TABLE balances DROP CONSTRAINT balances_never_negative_check`,
      Prisma.sql`UPDATE balances SET available_micros = -1`,
      Prisma.sql`UPDATE credit_lots SET remaining_micros = remaining_micros - 1`,
      Prisma.sql`INSERT INTO ledger_transactions (id, account_id, kind, corrects, cause, actor)
        VALUES (${id}::uuid, ${jobs.accountId}::uuid, 'correction', ${grant?.id}::uuid, 'too much', 'test')`,
      Prisma.sql`INSERT INTO ledger_entries VALUES (${id}::uuid, 1, 'available', 'promotions', 1000001)`,
    );
    const found = (await jobs.findings()).map(({ check }) => check);
    expect(found).toEqual(expect.arrayContaining(['never-negative', 'lot-is-sum', 'correction-within-original']));
  });
});
