import { createHash } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, readingRows, onOneDay, type TestDatabase } from '@millrace/testing';
import { LabelRuleStore, type LabelUse } from '../labels';
import { RecountKeyCapsLoop, SpendCapStore, composeSpendCaps, sumUsage, type SpendCapDraft } from '../spend';

/** Records of usage before the last ten minutes, and in them. */
const [OLD, NEW] = [250, 7];
const none: SpendCapDraft = {
  ...{
    scope: 'account',
    keyId: null,
    dailyMicros: null,
    monthlyMicros: 1_000_000n,
  },
  ...{ dailyAtCap: 'stop', monthlyAtCap: 'stop' },
};

let test: TestDatabase;
let accountId: string;
let keyId: string;
beforeAll(async () => {
  test = await createTestDatabase(3);
});
beforeEach(() => onOneDay());
afterAll(() => test.drop());
beforeEach(async () => {
  accountId = await makeAccount(test.database);
  keyId = await makeKey();
  await charge(OLD, '11 minutes');
  await charge(NEW, '1 minute');
});

async function makeKey(): Promise<string> {
  const id = newId();
  const key = {
    name: 'a key',
    keyHash: createHash('sha256').update(id).digest(),
    lastFour: 'abcd',
    scopes: [],
  };
  await test.database.models.apiKey.create({ data: { id, accountId, ...key } });
  return id;
}

/** So many jobs were charged 1 micro-credit each, one a millisecond, the last of them so long ago. */
async function charge(jobs: number, ago: string, byKey = keyId): Promise<void> {
  await test.database.execute(Prisma.sql`
    INSERT INTO usage_records (job_id, account_id, api_key_id, status, billable_ms, charged_micros, finished_at)
    SELECT gen_random_uuid(), ${accountId}::uuid, ${byKey}::uuid, 'succeeded', 1, 1, now() - ${ago}::interval - n * interval '1 ms'
    FROM generate_series(0, ${jobs - 1}::int) n`);
}

/** What was charged this month and today, by the records of usage. */
async function charged(): Promise<Pick<LabelUse, 'dayMicros' | 'monthMicros'>> {
  const [row] = await test.database.rows<Pick<LabelUse, 'dayMicros' | 'monthMicros'>>(Prisma.sql`
    SELECT count(*) FILTER (WHERE finished_at >= date_trunc('day', now(), 'UTC')) AS day_micros,
      count(*) FILTER (WHERE finished_at >= date_trunc('month', now(), 'UTC')) AS month_micros
    FROM usage_records WHERE account_id = ${accountId}::uuid`);
  if (row === undefined) throw new Error('a count returned no row');
  return row;
}

const useOf = (label: string, value: string): Promise<LabelUse | null> =>
  new LabelRuleStore().use(test.database, accountId, label, value);

describe('a cap that is set', () => {
  it.each(['account', 'key'] as const)(
    'counts all of the month, and reads under its locks what is new alone (%s)',
    async (scope) => {
      const caps = composeSpendCaps(test.database);
      const draft = { ...none, scope, keyId: scope === 'key' ? keyId : null };
      const summed = await caps.sumUsage(accountId, draft, 'account');
      const { rows } = await test.database.transaction(async (tx) => {
        await tx.execute(Prisma.sql`SET LOCAL enable_seqscan = off`);
        return readingRows(tx, 'usage_records', () => caps.put(tx, accountId, draft, summed));
      });
      const recent = { accountId, finishedAt: { gte: summed.until } };
      expect(rows).toBe(await test.database.models.usageRecord.count({ where: recent }));
      const use = scope === 'key' ? useOf('@key', keyId) : useOf('@account', '');
      expect(await use).toMatchObject(await charged());
    },
  );
});

/** Calls of statements that read a page of usage, and how many of them were at once at most. */
function watchPages(): { pages: () => number; most: () => number } {
  const rows = test.database.rows.bind(test.database);
  let [pages, now, most] = [0, 0, 0];
  jest.spyOn(test.database, 'rows').mockImplementation(async (sql) => {
    if (!sql.sql.includes('is_of_last_day')) return rows(sql);
    pages += 1;
    most = Math.max(most, (now += 1));
    return rows(sql).finally(() => (now -= 1));
  });
  return { pages: () => pages, most: () => most };
}

describe('the sum of a month', () => {
  afterEach(() => jest.restoreAllMocks());

  it.each(['account', 'key'] as const)('has no more parts where more keys were used (%s)', async (scope) => {
    for (let nth = 0; nth < 30; nth += 1) {
      const other = await makeKey();
      await charge(1, '12 minutes', other);
      await charge(1, '30 hours', other);
    }
    const draft = { scope, keyId: scope === 'key' ? keyId : null };
    const summed = await composeSpendCaps(test.database).sumUsage(accountId, draft, 'account');
    expect(summed.sums.length).toBeLessThanOrEqual(2);
  });

  it('is made once at a time for an account, however many caps it sets at once', async () => {
    const watched = watchPages();
    const caps = composeSpendCaps(test.database);
    const summed = await Promise.all(
      Array.from({ length: 20 }, () => caps.sumUsage(accountId, { scope: 'account', keyId: null }, 'account')),
    );
    expect(summed).toHaveLength(20);
    expect(watched.most()).toBeLessThanOrEqual(1);
  });

  it('is not made for a key that the account has not', async () => {
    const watched = watchPages();
    const draft = { scope: 'key', keyId: newId() } as const;
    const sum = composeSpendCaps(test.database).sumUsage(accountId, draft, 'account');
    await expect(sum).rejects.toMatchObject({ code: 'invalid_request' });
    expect(watched.pages()).toBe(0);
  });
});

it('usage of the last ten minutes, which a transaction under way may still add to, is in no sum', async () => {
  await charge(3, '10 minutes 5 seconds');
  await charge(5, '9 minutes 30 seconds');
  const { sums } = await sumUsage(test.database, accountId, { label: '@account', value: '' });
  const [row] = await test.database.rows<{ settled: bigint }>(Prisma.sql`
    SELECT count(*) AS settled FROM usage_records WHERE account_id = ${accountId}::uuid
      AND finished_at >= date_trunc('month', now(), 'UTC') AND finished_at < now() - interval '10 minutes'`);
  expect(sums.reduce((sum, { micros }) => sum + BigInt(micros), 0n)).toBe(row?.settled);
});

it.each([
  [1, { label: '@account', value: '' }],
  [10, { label: '@key', value: null }],
  [100, { label: '@account', value: '' }],
  [1_000, { label: '@key', value: null }],
])('usage is summed to the same in pages of %s', async (pageRecords, cap) => {
  const { until, sums } = await sumUsage(test.database, accountId, cap, pageRecords);
  const [row] = await test.database.rows<{ count: bigint }>(Prisma.sql`
    SELECT count(*) FROM usage_records WHERE account_id = ${accountId}::uuid
      AND finished_at >= date_trunc('month', now(), 'UTC') AND finished_at < ${until}::timestamptz`);
  expect(sums.reduce((sum, { micros }) => sum + BigInt(micros), 0n)).toBe(row?.count);
});

/** Two caps that count what a key and its successor submit, neither of which counted anything. */
async function makeCapsOfLine(): Promise<void> {
  const successor = await makeKey();
  await test.database.models.apiKey.update({
    where: { id: keyId },
    data: { rotatedTo: successor },
  });
  const value = { accountId, label: '@key', monthlyMicros: 1_000_000n };
  await test.database.models.labelRule.create({
    data: { ...value, id: newId(), value: null },
  });
  await test.database.models.labelRule.create({
    data: { ...value, id: newId(), value: keyId },
  });
  await test.database.execute(Prisma.sql`DELETE FROM label_use WHERE account_id = ${accountId}::uuid`);
}

describe('caps of keys that count together', () => {
  afterEach(() => jest.restoreAllMocks());

  it('are counted again by one sum of the month of their account', async () => {
    await makeCapsOfLine();
    const watched = watchPages();
    expect(await new RecountKeyCapsLoop(test.database, new SpendCapStore()).runOnce()).toBe(1);
    // None in the first ten minutes of a month: then all is read with the rows locked.
    expect(watched.pages()).toBeLessThanOrEqual(1);
    expect(await useOf('@key', keyId)).toMatchObject(await charged());
  });

  it('are counted again though one before them fails', async () => {
    await makeCapsOfLine();
    const store = new SpendCapStore();
    const adopt = store.adopt.bind(store);
    jest.spyOn(store, 'adopt').mockImplementation((tx, id, cap) => {
      if (cap.value === null) throw new Error('no time');
      return adopt(tx, id, cap);
    });
    await expect(new RecountKeyCapsLoop(test.database, store).runOnce()).rejects.toThrow('no time');
    expect(await useOf('@key', keyId)).toMatchObject(await charged());
  });
});
