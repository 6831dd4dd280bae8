import { Prisma } from '@prisma/client';
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
const note = async (): Promise<number> => (await new SpendAnomalyStore().note(test.database, TERMS, 100)).length;

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
  await Promise.all([note(), note(), note()]);
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

it('is mailed with its event, and neither happens without the other', async () => {
  const accountId = await account();
  await charge(accountId, 3_000_000, 0);
  const sent: [string, string][] = [];
  let broken = true;
  const mails = {
    add: (_tx: unknown, of: string, { lines }: { lines: readonly string[] }): Promise<void> => {
      if (broken) return Promise.reject(new Error('no room for a mail'));
      sent.push([of, lines.join()]);
      return Promise.resolve();
    },
  };
  const loop = new NoteSpendAnomaliesLoop(test.database, new SpendAnomalyStore(), mails);
  await expect(loop.runOnce()).rejects.toThrow('no room');
  expect(await events(accountId)).toEqual([]);
  broken = false;
  await loop.runOnce();
  await loop.runOnce();
  const own = sent.filter(([of]) => of === accountId);
  expect(own).toEqual([
    [accountId, expect.stringMatching(/costs 3 credits so far, and the usual hour costs 0\.0002:/)],
  ]);
  expect(await events(accountId)).toHaveLength(1);
});
