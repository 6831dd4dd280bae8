import { Prisma } from '@prisma/client';
import type { Rebuild } from '@millrace/billing';
import { createTestDatabase, eventually, type TestDatabase } from '@millrace/testing';
import { CreditJobs } from '../fixtures/credit-jobs';

const GIVEN = 1_000_000n;

let test: TestDatabase;
let jobs: CreditJobs;
beforeEach(async () => {
  test = await createTestDatabase(4);
  jobs = await CreditJobs.make(test, GIVEN);
  await jobs.grant(50_000n, 2);
  await runJob();
  // A charge that no lot is drawn for yet, and a hold.
  await jobs.grant(1n);
  await runJob();
  await jobs.submit(100_000n, 1_000n);
});
afterEach(() => test.drop());

/** A job that is charged 10,000 micro-credits. */
async function runJob(): Promise<string> {
  await jobs.submit(100_000n, 1_000n);
  const claimed = await jobs.start();
  if (claimed === null) throw new Error('no job was started');
  await jobs.end(claimed, 10_000, 'succeeded');
  return claimed.jobId;
}

/** Run jobs that are charged all that is available and held. */
async function spendAll(): Promise<void> {
  const { availableMicros } = await jobs.balance();
  const all = await jobs.submit(availableMicros, availableMicros);
  for (let claimed = await jobs.start(); claimed !== null; claimed = await jobs.start()) {
    await jobs.end(claimed, claimed.jobId === all ? 1_000 : 100_000, 'succeeded');
  }
}

/** Change rows past every trigger, foreign key and right. */
async function tamper(...statements: Prisma.Sql[]): Promise<void> {
  await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    for (const statement of statements) await tx.execute(statement);
  });
}

async function rebuild(): Promise<Rebuild> {
  const { repair } = jobs.billing;
  const ledger = await repair.read(jobs.accountId);
  return test.database.transaction((tx) => repair.rebuild(tx, ledger, 'admin'));
}

const compare = async (): Promise<Rebuild> =>
  jobs.billing.repair.compare(await jobs.billing.repair.read(jobs.accountId));

/** All that a rebuild may write. */
async function stored(): Promise<unknown> {
  const { balance, creditLot, ledgerTransaction, ledgerEntry } = test.database.models;
  return {
    balances: await balance.findMany(),
    lots: await creditLot.findMany({ orderBy: { transactionId: 'asc' } }),
    transactions: await ledgerTransaction.findMany({ orderBy: { id: 'asc' } }),
    entries: await ledgerEntry.findMany({ orderBy: [{ transactionId: 'asc' }, { line: 'asc' }] }),
  };
}
const checks = async (): Promise<string[]> => [...new Set((await jobs.findings()).map(({ check }) => check))].sort();
const balanceSql = (set: Prisma.Sql): Prisma.Sql => Prisma.sql`UPDATE balances SET ${set}`;
const firstLot = Prisma.sql`transaction_id = (SELECT transaction_id FROM credit_lots WHERE drawn_micros > 0 LIMIT 1)`;

function signal(): { given: Promise<void>; give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}

it('changes nothing of an account whose books agree', async () => {
  const before = await stored();
  expect(await rebuild()).toMatchObject({ isChanged: false, lots: [], ended: [], left: [], grant: null });
  expect(await stored()).toEqual(before);
});

it.each([
  ['too much is available', balanceSql(Prisma.sql`available_micros = available_micros + 7`)],
  ['too little is available', balanceSql(Prisma.sql`available_micros = available_micros - 7`)],
  ['too much is held', balanceSql(Prisma.sql`held_micros = held_micros + 7`)],
  ['nothing is held', balanceSql(Prisma.sql`held_micros = 0`)],
  ['the wrong amount was consumed', balanceSql(Prisma.sql`consumed_micros = consumed_micros + 7`)],
  ['the wrong amount was drawn', balanceSql(Prisma.sql`drawn_micros = drawn_micros - 7`)],
  ['the balance is gone', Prisma.sql`DELETE FROM balances`],
  ['a lot has too much', Prisma.sql`UPDATE credit_lots SET remaining_micros = remaining_micros + 7 WHERE ${firstLot}`],
  ['more was drawn from a lot', Prisma.sql`UPDATE credit_lots SET drawn_micros = drawn_micros + 7 WHERE ${firstLot}`],
  ['a lot is gone', Prisma.sql`DELETE FROM credit_lots WHERE ${firstLot}`],
  ['a lot never expires any more', Prisma.sql`UPDATE credit_lots SET expires_at = NULL WHERE expires_at IS NOT NULL`],
])('makes an account where %s what its ledger says, shows it before, and then changes nothing', async (_, sql) => {
  const sound = await jobs.balance();
  await tamper(sql);
  expect(await checks()).not.toEqual([]);
  const wrong = await stored();
  const shown = await compare();
  expect(await stored()).toEqual(wrong);
  expect(await rebuild()).toEqual(shown);
  expect(shown.isChanged).toBe(true);
  expect(await checks()).toEqual([]);
  expect(await jobs.balance()).toEqual(sound);
  const right = await stored();
  expect(await rebuild()).toMatchObject({ isChanged: false });
  expect(await stored()).toEqual(right);
});

it('gives an account what it has spent beyond what it had, so that its credits can be changed again', async () => {
  await tamper(balanceSql(Prisma.sql`available_micros = available_micros + 50000`));
  await spendAll();
  await expect(jobs.grant(1n)).rejects.toThrow('the lots lack');
  const shown = await compare();
  const done = await rebuild();
  expect(done).toMatchObject({ grant: { micros: 50_000n }, after: { availableMicros: 0n, heldMicros: 0n } });
  const lot = (id?: string): object => ({
    transactionId: id,
    before: null,
    after: { remainingMicros: 50_000n, drawnMicros: 0n },
  });
  expect(done.lots).toContainEqual(lot(done.grant?.id));
  expect(shown.lots).toContainEqual(lot(shown.grant?.id));
  expect(shown.lots).toHaveLength(done.lots.length);
  expect(await checks()).toEqual([]);
  await jobs.grant(5n);
  expect(await jobs.balance()).toEqual({ availableMicros: 5n, heldMicros: 0n });
  expect(await checks()).toEqual([]);
});

it('ends the hold of a job that is no more, once', async () => {
  const jobId = await jobs.submit(100_000n, 1_000n);
  const before = await jobs.balance();
  await tamper(Prisma.sql`DELETE FROM jobs WHERE id = ${jobId}::uuid`);
  expect(await checks()).toEqual(['orphan-hold']);
  expect(await rebuild()).toMatchObject({ ended: [{ jobId, heldMicros: 100_000n, chargedMicros: 0n }], left: [] });
  expect(await checks()).toEqual([]);
  expect(await jobs.balance()).toEqual({
    availableMicros: before.availableMicros + 100_000n,
    heldMicros: before.heldMicros - 100_000n,
  });
  expect(await rebuild()).toMatchObject({ isChanged: false });
});

describe('the hold of a job whose end the ledger lost', () => {
  let jobId: string;
  beforeEach(async () => {
    jobId = await runJob();
    await tamper(
      Prisma.sql`CREATE TABLE lost_transactions AS SELECT * FROM ledger_transactions WHERE job_id = ${jobId}::uuid AND kind = 'settle'`,
      Prisma.sql`CREATE TABLE lost_entries AS SELECT * FROM ledger_entries WHERE transaction_id IN (SELECT id FROM lost_transactions)`,
      Prisma.sql`DELETE FROM ledger_entries WHERE transaction_id IN (SELECT id FROM lost_transactions)`,
      Prisma.sql`DELETE FROM ledger_transactions WHERE job_id = ${jobId}::uuid AND kind = 'settle'`,
    );
  });

  it('ends with the charge that its usage record has, on the day of it', async () => {
    const sound = await jobs.balance();
    expect(await rebuild()).toMatchObject({ ended: [{ jobId, chargedMicros: 10_000n }], left: [] });
    expect(await checks()).toEqual([]);
    expect(await jobs.balance()).toEqual(sound);
  });

  it('keeps the account from being rebuilt where the charge is of another day: nothing is granted that comes back with the lost rows', async () => {
    const dated = (days: number): Prisma.Sql =>
      Prisma.sql`UPDATE usage_records SET finished_at = finished_at - make_interval(days => ${days}::int) WHERE job_id = ${jobId}::uuid`;
    await tamper(dated(2));
    await spendAll();
    const wrong = await stored();
    expect(await compare()).toMatchObject({
      ended: [],
      left: [{ jobId, heldMicros: 100_000n }],
      grant: { micros: 90_000n },
    });
    const fields = [{ field: 'id', reason: expect.stringContaining(jobId) as string }];
    await expect(rebuild()).rejects.toMatchObject({ code: 'invalid_request', details: { fields } });
    expect(await stored()).toEqual(wrong);
    await tamper(
      dated(-2),
      Prisma.sql`INSERT INTO ledger_transactions SELECT * FROM lost_transactions`,
      Prisma.sql`INSERT INTO ledger_entries SELECT * FROM lost_entries`,
    );
    expect(await checks()).toEqual([]);
    expect(await rebuild()).toMatchObject({ isChanged: false });
    expect((await jobs.balance()).availableMicros).toBe(0n);
  });
});

it('refuses to make a balance of entries that contradict each other', async () => {
  await tamper(Prisma.sql`UPDATE ledger_entries SET to_book = 'promotions', from_book = 'revenue'
    WHERE transaction_id IN (SELECT id FROM ledger_transactions WHERE kind = 'grant' AND expires_at IS NOT NULL)`);
  await expect(rebuild()).rejects.toMatchObject({ code: 'invalid_request', details: { fields: [{ field: 'id' }] } });
});

it('is refused where the hold of a job was ended twice while another job runs, whose hold would be missing at its end', async () => {
  const [ended, running] = [await runJob(), await jobs.start()];
  if (running === null) throw new Error('no job was started');
  await tamper(
    Prisma.sql`CREATE TABLE again AS SELECT t.id, gen_random_uuid() AS copy FROM ledger_transactions t
      WHERE t.job_id = ${ended}::uuid AND t.kind = 'settle'`,
    Prisma.sql`INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor)
      SELECT a.copy, t.account_id, t.kind, t.job_id, 'again', t.actor FROM again a JOIN ledger_transactions t USING (id)`,
    Prisma.sql`INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
      SELECT a.copy, e.line, e.from_book, e.to_book, e.amount_micros FROM again a JOIN ledger_entries e ON e.transaction_id = a.id`,
  );
  expect(await checks()).toEqual(expect.arrayContaining(['one-charge-per-job', 'one-end-per-hold', 'hold-ends-whole']));
  const refused = { code: 'invalid_request', details: { fields: [{ field: 'id' }] } };
  await expect(compare()).rejects.toMatchObject(refused);
  await expect(rebuild()).rejects.toMatchObject(refused);
  await jobs.end(running, 5_000, 'succeeded');
  expect((await jobs.balance()).heldMicros).toBe(0n);
});

it('is refused where the ledger lost the hold of a job that runs, which its end gives back', async () => {
  const running = await jobs.start();
  if (running === null) throw new Error('no job was started');
  const ofHold = Prisma.sql`SELECT id FROM ledger_transactions WHERE job_id = ${running.jobId}::uuid AND kind = 'hold'`;
  await tamper(
    Prisma.sql`DELETE FROM ledger_entries WHERE transaction_id IN (${ofHold})`,
    Prisma.sql`DELETE FROM ledger_transactions WHERE job_id = ${running.jobId}::uuid AND kind = 'hold'`,
  );
  await expect(compare()).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(rebuild()).rejects.toMatchObject({ code: 'invalid_request' });
  await jobs.end(running, 5_000, 'succeeded');
  expect((await jobs.balance()).heldMicros).toBe(0n);
});

it('takes part in what jobs hold and end meanwhile, and loses nothing of it', async () => {
  await tamper(balanceSql(Prisma.sql`available_micros = available_micros + 7`));
  const claimed = await jobs.start();
  if (claimed === null) throw new Error('no job was started');
  const ledger = await jobs.billing.repair.read(jobs.accountId);
  const [locked, release] = [signal(), signal()];
  const written = test.database.transaction(async (tx) => {
    await jobs.billing.repair.rebuild(tx, ledger, 'admin');
    locked.give();
    await release.given;
  });
  await locked.given;
  const both = [jobs.end(claimed, 5_000, 'succeeded'), jobs.submit(30_000n, 1_000n)];
  await eventually('both to wait for the balance', async () => {
    const waiting = await test.database.query(
      Prisma.sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return waiting.length === both.length;
  });
  release.give();
  await Promise.all([...both, written]);
  expect(await checks()).toEqual([]);
  expect((await jobs.balance()).heldMicros).toBe(30_000n);
});

it('warns an account of low credits when it had fewer than its balance said', async () => {
  const { availableMicros, heldMicros } = await jobs.balance();
  await tamper(
    balanceSql(Prisma.sql`available_micros = available_micros + 7,
    alert_below_micros = ${availableMicros + heldMicros + 5n}, alerted_at = NULL`),
  );
  await rebuild();
  const [balance] = await test.database.models.balance.findMany({ where: { accountId: jobs.accountId } });
  expect(balance?.alertedAt).not.toBeNull();
});
