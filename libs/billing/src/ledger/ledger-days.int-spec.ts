import { Prisma } from '@prisma/client';
import { createTestDatabase, makeAccount, readingRows, type TestDatabase } from '@millrace/testing';
import { CloseLedgerDaysLoop } from './close-ledger-days.loop';
import { LedgerDaysStore } from './ledger-days.store';
import { LedgerReadsStore } from './ledger-reads.store';
import { monthSpan, type Statement } from './statement';

let test: TestDatabase;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase(4);
});
afterAll(() => test.drop());
beforeEach(async () => {
  accountId = await makeAccount(test.database);
  await test.database.execute(Prisma.sql`
    INSERT INTO balances (account_id) VALUES (${accountId}::uuid) ON CONFLICT DO NOTHING`);
});

const days = new LedgerDaysStore();
const reads = new LedgerReadsStore();
const MONTHS = ['2025-01', '2025-02', '2025-03', '2025-06', '2026-01'];

/** Postings of a time, as many, each of so many micro-credits. */
async function post(kind: string, at: string, micros: number, count = 1): Promise<void> {
  const [from, to] = kind === 'grant' ? ['promotions', 'available'] : ['available', 'promotions'];
  await test.database.execute(Prisma.sql`
    WITH made AS (
      INSERT INTO ledger_transactions (id, account_id, kind, cause, actor, at, corrects)
      SELECT gen_random_uuid(), ${accountId}::uuid, ${kind}, gen_random_uuid()::text, 'test', ${at}::timestamptz, CASE ${kind} WHEN 'expire' THEN (
        SELECT id FROM ledger_transactions WHERE account_id = ${accountId}::uuid AND kind = 'grant' LIMIT 1) END
      FROM generate_series(1, ${count}::int) RETURNING id
    ) INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
    SELECT id, 1, ${from}, ${to}, ${micros}::bigint FROM made`);
  await test.database.execute(Prisma.sql`UPDATE balances SET updated_at = now() WHERE account_id = ${accountId}::uuid`);
}

async function statementOf(
  month: string,
  tx = test.database as Parameters<LedgerReadsStore['statement']>[0],
): Promise<Statement> {
  const span = monthSpan(month);
  if (span === null) throw new Error(`${month} is no month`);
  return reads.statement(tx, accountId, span);
}
const statements = (): Promise<Statement[]> => Promise.all(MONTHS.map((month) => statementOf(month)));
const closeAll = async (): Promise<void> => {
  while (await days.closeNext(test.database, accountId));
};
const closedDays = (): Promise<number> => test.database.models.ledgerDay.count({ where: { accountId } });

describe('closed days of a ledger', () => {
  beforeEach(async () => {
    await post('grant', '2025-01-01T00:00:00Z', 100);
    await post('grant', '2025-01-31T23:59:59.999Z', 7);
    await post('expire', '2025-02-01T00:00:00Z', 3, 2);
    await post('grant', '2025-02-01T12:00:00Z', 50);
    await post('grant', '2025-06-30T23:00:00Z', 1);
  });

  it('leave every statement as it is, however many are closed', async () => {
    const before = await statements();
    expect(before.map(({ openingMicros, closingMicros }) => [openingMicros, closingMicros])).toEqual([
      [0n, 107n],
      [107n, 151n],
      [151n, 151n],
      [151n, 152n],
      [152n, 152n],
    ]);
    expect(before[1]).toMatchObject({
      grantsMicros: 50n,
      expiriesMicros: -6n,
      correctionsMicros: 0n,
      chargesMicros: 0n,
    });
    for (let closed = 1; await days.closeNext(test.database, accountId); closed += 1) {
      expect(await closedDays()).toBe(closed);
      expect(await statements()).toEqual(before);
    }
    expect(await closedDays()).toBe(4);
  });

  it('are read in pages, and the same in pages of any size', async () => {
    for (let second = 10; second < 40; second += 1) await post('grant', `2025-03-03T10:00:${second}Z`, second, 2);
    const before = await statements();
    for (const page of [1, 2, 5, 100]) {
      const paged = new LedgerDaysStore(page);
      await test.database.transaction(async (tx) => {
        await tx.execute(Prisma.sql`SET LOCAL enable_seqscan = off`);
        const read: number[] = [];
        const counting = {
          models: tx.models,
          query: <T>(sql: Prisma.Sql): Promise<T[]> => tx.query<T>(sql),
          execute: (sql: Prisma.Sql): Promise<number> => tx.execute(sql),
          rows: async <T>(sql: Prisma.Sql): Promise<T[]> => {
            const { result, rows } = await readingRows(tx, 'ledger_entries', () => tx.rows<T>(sql));
            read.push(rows);
            return result;
          },
        };
        while (await paged.closeNext(counting, accountId));
        // The planner may look at an end of an index.
        expect(Math.max(...read)).toBeLessThan(Math.min(page, 60) + 5);
      });
      expect(await closedDays()).toBe(5);
      expect(await statements()).toEqual(before);
      await test.database.execute(Prisma.sql`DELETE FROM ledger_days WHERE account_id = ${accountId}::uuid`);
    }
  });

  it('are whole: one to which something may still be posted stays open', async () => {
    await closeAll();
    await post('grant', new Date().toISOString(), 5);
    await closeAll();
    expect(await closedDays()).toBe(4);
    const month = new Date().toISOString().slice(0, 7);
    expect(await statementOf(month)).toMatchObject({ openingMicros: 152n, grantsMicros: 5n, closingMicros: 157n });
  });

  it('are closed an hour after they end, when no transaction that began in them is under way', async () => {
    const closesAt = (at: string): Promise<boolean> => days.closeNext(test.database, accountId, new Date(at));
    expect(await closesAt('2025-01-02T00:59:59.999Z')).toBe(false);
    expect(await closesAt('2025-01-02T01:00:00Z')).toBe(true);
    expect(await closedDays()).toBe(1);
  });

  it('are the same when several close them at once', async () => {
    const before = await statements();
    await Promise.all(Array.from({ length: 4 }, closeAll));
    await closeAll();
    expect(await closedDays()).toBe(4);
    expect(await statements()).toEqual(before);
  });

  it('let a statement read no entry of the past, however long that is', async () => {
    await post('grant', '2024-05-05T05:00:00Z', 1, 300);
    await post('grant', '2025-02-01T20:00:00Z', 1, 300);
    const rowsOf = (table: string, month: string): Promise<number> =>
      test.database.transaction(async (tx) => (await readingRows(tx, table, () => statementOf(month, tx))).rows);
    expect(await rowsOf('ledger_entries', '2025-03')).toBeGreaterThan(600);
    await closeAll();
    await post('grant', new Date().toISOString(), 5);
    await test.database.execute(Prisma.sql`ANALYZE ledger_transactions`);
    await test.database.execute(Prisma.sql`ANALYZE ledger_entries`);
    for (const month of ['2025-02', '2025-03', new Date().toISOString().slice(0, 7)]) {
      // The planner may look at an end of an index.
      for (const table of ['ledger_entries', 'ledger_transactions']) expect(await rowsOf(table, month)).toBeLessThan(5);
    }
  });

  it('are closed by a loop, and an account that cannot be keeps none behind it open', async () => {
    const store = new LedgerDaysStore();
    const first = accountId;
    accountId = await makeAccount(test.database, { micros: 1_000_000n });
    await post('grant', '2025-01-01T00:00:00Z', 100);
    jest.spyOn(store, 'closeNext').mockImplementation((tx, id) => {
      if (id === first) throw new Error('canceling statement due to statement timeout');
      return days.closeNext(tx, id);
    });
    const loop = new CloseLedgerDaysLoop(test.database, store);
    const failed: string[] = [];
    const report = { failed: (item: string) => void failed.push(item), resting: () => undefined };
    while ((await loop.runOnce(report)) > 0);
    expect(failed).toEqual([first]);
    expect(await closedDays()).toBe(1);
    expect(await days.listOpen(test.database, null, 1_000)).toEqual(expect.arrayContaining([first]));
  });
});
