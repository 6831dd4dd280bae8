import { Prisma } from '@prisma/client';
import pg from 'pg';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, readingRows, type TestDatabase } from '@millrace/testing';
import { NoteSpendAnomaliesLoop } from './note-spend-anomalies.loop';
import { SpendAnomalyStore } from './spend-anomaly.store';
import { UsualSpend } from './usual-spend';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase(4);
});
afterAll(() => test.drop());

const NO_MAILS = { add: () => Promise.resolve() };
/** As several processes do that look at once. @returns how many were noted. */
async function note(processes = 1): Promise<number> {
  const loops = Array.from(
    { length: processes },
    () => new NoteSpendAnomaliesLoop(test.database, new SpendAnomalyStore(), NO_MAILS, 1_000n),
  );
  return (await Promise.all(loops.map((loop) => loop.runOnce()))).reduce((sum, noted) => sum + noted, 0);
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

describe('an hour that has ended', () => {
  const END = new Date('2026-03-14T12:00:00.000Z');
  const later = (seconds: number): Date => new Date(END.getTime() + seconds * 1_000);
  /** A process that has just started. */
  const loop = (): { lookAt: (seconds: number) => Promise<number> } => {
    const store = new SpendAnomalyStore(END);
    const notes = new NoteSpendAnomaliesLoop(test.database, store, NO_MAILS, 1_000n);
    return {
      lookAt: (seconds) => {
        Object.assign(store, { at: later(seconds) });
        return notes.runOnce();
      },
    };
  };
  async function chargeAt(accountId: string, micros: number, at: Date): Promise<void> {
    await test.database.execute(Prisma.sql`
      INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, labels, finished_at)
      VALUES (${newId()}::uuid, ${accountId}::uuid, 'succeeded', 1, ${micros}, '{}', ${at})`);
    await test.database.execute(
      Prisma.sql`UPDATE balances SET updated_at = ${at} WHERE account_id = ${accountId}::uuid`,
    );
  }
  const hours = async (accountId: string): Promise<string[]> => {
    const rows = await test.database.rows<{ hour: string }>(Prisma.sql`
      SELECT m.data ->> 'hour' AS hour FROM webhook_messages m JOIN webhook_endpoints e ON e.id = m.endpoint_id
      WHERE e.account_id = ${accountId}::uuid ORDER BY 1`);
    return rows.map(({ hour }) => hour);
  };
  const usual = async (): Promise<string> => {
    const accountId = await account();
    for (const back of [2, 3, 4]) await chargeAt(accountId, 200, later(-back * 3_600));
    return accountId;
  };

  it('is noted once by what was charged in its last seconds, or while no process looked', async () => {
    const accountId = await usual();
    await chargeAt(accountId, 5_000, later(-20));
    const [one, other] = [loop(), loop()];
    expect(await Promise.all([one.lookAt(20), other.lookAt(20)]).then(([a, b]) => a + b)).toBe(1);
    for (const seconds of [80, 700, 3_000]) expect(await one.lookAt(seconds)).toBe(0);
    expect(await loop().lookAt(3_500)).toBe(0);
    expect(await hours(accountId)).toEqual(['2026-03-14T11:00:00Z']);
  });

  it('and the hour after it may have one each', async () => {
    const accountId = await usual();
    await chargeAt(accountId, 5_000, later(-20));
    await chargeAt(accountId, 5_000, later(10));
    await loop().lookAt(20);
    await loop().lookAt(80);
    expect(await hours(accountId)).toEqual(['2026-03-14T11:00:00Z', '2026-03-14T12:00:00Z']);
  });

  it('is looked at again when nothing is charged in it any more, and not between', async () => {
    const accountId = await usual();
    await chargeAt(accountId, 1_500, later(-20));
    const process = loop();
    await process.lookAt(20);
    // Its transaction began before the end of the hour, and commits after the look.
    await chargeAt(accountId, 1_500, later(-1));
    const spentIn = jest.spyOn(SpendAnomalyStore.prototype, 'spentIn');
    try {
      expect(await process.lookAt(80)).toBe(0);
      expect(spentIn.mock.calls.filter(([, of]) => of === accountId)).toEqual([]);
      expect(await process.lookAt(601)).toBe(1);
    } finally {
      spentIn.mockRestore();
    }
    expect(await hours(accountId)).toEqual(['2026-03-14T11:00:00Z']);
  });
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
    const failed: string[] = [];
    await loopOf().runOnce({ failed: (item) => void failed.push(item), resting: () => undefined });
    expect(failed).toEqual([accountId]);
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

describe('the usual hour', () => {
  const store = new SpendAnomalyStore();
  const hourNow = async (): Promise<number> => {
    const [row] = await test.database.rows<{ hour: number }>(Prisma.sql`
      SELECT floor(extract(epoch FROM now()) / 3600)::int AS hour`);
    return row?.hour ?? 0;
  };
  /** Records of the last seven days: `of` micro-credits each, so many in each hour. */
  const history = (accountId: string, each: number, of: number): Promise<number> =>
    test.database.execute(Prisma.sql`
      INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, labels, finished_at)
      SELECT gen_random_uuid(), ${accountId}::uuid, 'succeeded', 1, ${of}::int, '{}',
        date_trunc('hour', now(), 'UTC') - make_interval(hours => hour) + make_interval(secs => n)
      FROM generate_series(1, 168) hour, generate_series(1, ${each}::int) n`);

  it('reads each record of the past once, however often it is asked for', async () => {
    const accountId = await makeAccount(test.database, { micros: 1_000_000n });
    await history(accountId, 5, 3);
    const hour = await hourNow();
    const usual = new UsualSpend(store);
    await test.database.transaction(async (tx) => {
      const first = await readingRows(tx, 'usage_records', () => usual.before(tx, accountId, hour));
      expect(first).toEqual({ result: 15n, rows: 840 });
      const again = await readingRows(tx, 'usage_records', () => usual.before(tx, accountId, hour));
      expect(again).toEqual({ result: 15n, rows: 0 });
      const next = await readingRows(tx, 'usage_records', () => usual.before(tx, accountId, hour + 1));
      expect(next).toEqual({ result: 15n, rows: 0 });
    });
  });

  it('is known when all of it was read, a bounded number of records at a time', async () => {
    const accountId = await makeAccount(test.database, { micros: 1_000_000n });
    await history(accountId, 5, 3);
    const hour = await hourNow();
    const usual = new UsualSpend(store, 300);
    const answers: (bigint | null)[] = [];
    for (let look = 0; look < 4; look += 1) {
      await test.database.transaction(async (tx) => {
        const { result, rows } = await readingRows(tx, 'usage_records', () => usual.before(tx, accountId, hour));
        expect(rows).toBeLessThanOrEqual(300);
        answers.push(result);
      });
    }
    expect(answers).toEqual([null, null, 15n, 15n]);
  });

  it('is that of the last seven days', async () => {
    const accountId = await makeAccount(test.database, { micros: 1_000_000n });
    for (const [hoursAgo, micros] of [
      [0, 5],
      [1, 700],
      [2, 600],
      [168, 100],
      [169, 100],
      [170, 100],
    ] as const) {
      await charge(accountId, micros, hoursAgo);
    }
    const hour = await hourNow();
    const usual = new UsualSpend(store);
    const before = (later: number): Promise<bigint | null> => usual.before(test.database, accountId, hour + later);
    expect(await before(-2)).toBe(100n);
    expect(await before(0)).toBe(600n);
    expect(await before(1)).toBe(600n);
    expect(await before(166)).toBe(600n);
    expect(await before(167)).toBe(5n);
    expect(await before(168)).toBe(5n);
    expect(await before(169)).toBe(0n);
    expect(await before(2_000)).toBe(0n);
  });

  it('of one account that cannot be read keeps no other from being noted', async () => {
    const accounts = [await account(), await account(), await account()].sort();
    for (const accountId of accounts) await charge(accountId, 3_000_000, 0);
    const broken = new SpendAnomalyStore();
    jest.spyOn(broken, 'past').mockImplementation((statements, accountId, ...rest) => {
      if (accountId === accounts[0]) throw new Error('canceling statement due to statement timeout');
      return store.past(statements, accountId, ...rest);
    });
    await new NoteSpendAnomaliesLoop(test.database, broken, NO_MAILS).runOnce();
    expect(await Promise.all(accounts.map(async (id) => (await events(id)).length))).toEqual([0, 1, 1]);
  });
});
