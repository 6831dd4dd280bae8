import { Prisma } from '@prisma/client';
import pg from 'pg';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { NoteSpendAnomaliesLoop } from './note-spend-anomalies.loop';
import { SpendAnomalyStore } from './spend-anomaly.store';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase(4);
});
afterAll(() => test.drop());

const TERMS = { factor: 10, days: 7, floorMicros: 1_000 };
/** As several processes do that look at once. @returns how many were noted. */
async function note(processes = 1): Promise<number> {
  const store = new SpendAnomalyStore();
  const found = await store.list(test.database, TERMS, null, 100);
  const notes = Array.from({ length: processes }, () => found.map((anomaly) => store.note(test.database, anomaly)));
  return (await Promise.all(notes.flat())).filter((isNew) => isNew).length;
}

/** @param hoursAgo 0: in the hour that it is now. */
async function charge(accountId: string, micros: number, hoursAgo: number): Promise<void> {
  await test.database.execute(Prisma.sql`
    INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, labels, finished_at)
    VALUES (${newId()}::uuid, ${accountId}::uuid, 'succeeded', 1, ${micros},
      '{}', date_trunc('hour', now(), 'UTC') - make_interval(hours => ${hoursAgo}::int))`);
  await test.database.execute(Prisma.sql`UPDATE balances SET updated_at = now() WHERE account_id = ${accountId}::uuid`);
}
async function account(): Promise<string> {
  const accountId = await makeAccount(test.database, { micros: 1_000_000n });
  const endpoint = { url: 'https://receiver.example.com/', origin: 'https://a.example', eventTypes: ['spend.anomaly'] };
  await test.database.models.webhookEndpoint.create({ data: { id: newId(), accountId, ...endpoint } });
  for (const [hours, micros] of [200, 300, 200, 100, 10_000].entries()) await charge(accountId, micros, hours + 1);
  return accountId;
}
const events = (accountId: string): Promise<{ charged: number; usual: number }[]> =>
  test.database.rows(Prisma.sql`
    SELECT (m.data ->> 'charged_micros')::int AS charged, (m.data ->> 'usual_micros')::int AS usual
    FROM webhook_messages m JOIN webhook_endpoints e ON e.id = m.endpoint_id WHERE e.account_id = ${accountId}::uuid`);

it('an hour of ten times the usual one is one event, however often it is looked at', async () => {
  const accountId = await account();
  await charge(accountId, 1_999, 0);
  await note();
  expect(await events(accountId)).toEqual([]);
  await charge(accountId, 1, 0);
  expect(await note(3)).toBe(1);
  await charge(accountId, 5_000, 0);
  await note();
  expect(await events(accountId)).toEqual([{ charged: 2_000, usual: 200 }]);
});

it('an account without usual hours, or one that spends little, has none', async () => {
  const fresh = await makeAccount(test.database, { micros: 1_000_000n });
  await charge(fresh, 50_000, 0);
  const small = await makeAccount(test.database, { micros: 1_000_000n });
  await charge(small, 10, 1);
  await charge(small, 900, 0);
  expect(await note()).toBe(0);
});

it('the next hour may have one again', async () => {
  const accountId = await account();
  await charge(accountId, 3_000, 0);
  await note();
  await test.database.execute(Prisma.sql`
    UPDATE balances SET anomaly_hour = anomaly_hour - interval '1 hour' WHERE account_id = ${accountId}::uuid`);
  await note();
  expect(await events(accountId)).toHaveLength(2);
});

describe('a mail of unusual spend', () => {
  const sent: [string, string][] = [];
  let broken: string | null;
  const loopOf = (during?: (accountId: string) => Promise<void>): NoteSpendAnomaliesLoop =>
    new NoteSpendAnomaliesLoop(test.database, new SpendAnomalyStore(), {
      add: async (_tx, of, { lines }) => {
        await during?.(of);
        if (of === broken) throw new Error('no room for a mail');
        sent.push([of, lines.join()]);
      },
    });
  const unusual = async (): Promise<string> => {
    const accountId = await account();
    await charge(accountId, 3_000_000, 0);
    return accountId;
  };

  it('is recorded with its event, and neither without the other', async () => {
    const accountId = await unusual();
    broken = accountId;
    await expect(loopOf().runOnce()).rejects.toThrow('no room');
    expect(await events(accountId)).toEqual([]);
    broken = null;
    await loopOf().runOnce();
    await loopOf().runOnce();
    expect(sent.filter(([of]) => of === accountId)).toEqual([
      [accountId, expect.stringMatching(/costs 3 credits so far, and the usual hour costs 0\.0002:/)],
    ]);
    expect(await events(accountId)).toHaveLength(1);
  });

  it('that fails stops no other account, and no other account waits for it', async () => {
    const accounts = [await unusual(), await unusual(), await unusual()].sort();
    broken = accounts[0] ?? '';
    const looker = new pg.Client({ connectionString: test.url });
    await looker.connect();
    try {
      const others = async (of: string): Promise<void> => {
        const ids = accounts.filter((id) => id !== of);
        await looker.query('SELECT FROM balances WHERE account_id = ANY ($1) FOR UPDATE NOWAIT', [ids]);
      };
      await loopOf(others).runOnce();
    } finally {
      await looker.end();
    }
    expect(await Promise.all(accounts.map(async (id) => (await events(id)).length))).toEqual([0, 1, 1]);
  });
});
