import { createHash } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, readingRows, type TestDatabase } from '@millrace/testing';
import { LabelRuleStore, type LabelUse } from '../labels';
import { RecountKeyCapsLoop, SpendCapStore, composeSpendCaps, sumUsage, type SpendCapDraft } from '../spend';

/** Records of usage before the last ten minutes, and in them. */
const [OLD, NEW] = [250, 7];
const none: SpendCapDraft = {
  ...{ scope: 'account', keyId: null, dailyMicros: null, monthlyMicros: 1_000_000n },
  ...{ dailyAtCap: 'stop', monthlyAtCap: 'stop' },
};

let test: TestDatabase;
let accountId: string;
let keyId: string;
beforeAll(async () => {
  test = await createTestDatabase(3);
});
afterAll(() => test.drop());
beforeEach(async () => {
  accountId = await makeAccount(test.database);
  keyId = newId();
  const key = { name: 'a key', keyHash: createHash('sha256').update(keyId).digest(), lastFour: 'abcd', scopes: [] };
  await test.database.models.apiKey.create({ data: { id: keyId, accountId, ...key } });
  await charge(OLD, '11 minutes');
  await charge(NEW, '1 minute');
});

/** So many jobs were charged 1 micro-credit each, one a millisecond, the last of them so long ago. */
async function charge(jobs: number, ago: string): Promise<void> {
  await test.database.execute(Prisma.sql`
    INSERT INTO usage_records (job_id, account_id, api_key_id, status, billable_ms, charged_micros, finished_at)
    SELECT gen_random_uuid(), ${accountId}::uuid, ${keyId}::uuid, 'succeeded', 1, 1, now() - ${ago}::interval - n * interval '1 ms'
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
      const summed = await caps.sumUsage(accountId);
      const draft = { ...none, scope, keyId: scope === 'key' ? keyId : null };
      const { rows } = await test.database.transaction(async (tx) => {
        await tx.execute(Prisma.sql`SET LOCAL enable_seqscan = off`);
        return readingRows(tx, 'usage_records', () => caps.put(tx, accountId, draft, summed));
      });
      expect(rows).toBeLessThanOrEqual(NEW);
      const use = scope === 'key' ? useOf('@key', keyId) : useOf('@account', '');
      expect(await use).toMatchObject(await charged());
    },
  );
});

it.each([1, 10, 100, 1_000])('usage is summed to the same in pages of %s', async (pageRecords) => {
  const { until, sums } = await sumUsage(test.database, accountId, pageRecords);
  const [row] = await test.database.rows<{ count: bigint }>(Prisma.sql`
    SELECT count(*) FROM usage_records WHERE account_id = ${accountId}::uuid
      AND finished_at >= date_trunc('month', now(), 'UTC') AND finished_at < ${until}::timestamptz`);
  expect(sums.reduce((sum, { micros }) => sum + BigInt(micros), 0n)).toBe(row?.count);
});

it('caps of keys that count together are counted again by one sum of the month of their account', async () => {
  const successor = newId();
  const key = { name: 'b', keyHash: createHash('sha256').update(successor).digest(), lastFour: 'abcd', scopes: [] };
  await test.database.models.apiKey.create({ data: { id: successor, accountId, ...key } });
  await test.database.models.apiKey.update({ where: { id: keyId }, data: { rotatedTo: successor } });
  const value = { accountId, label: '@key', monthlyMicros: 1_000_000n };
  await test.database.models.labelRule.create({ data: { ...value, id: newId(), value: keyId } });
  await test.database.models.labelRule.create({ data: { ...value, id: newId(), value: null } });
  await test.database.execute(Prisma.sql`DELETE FROM label_use WHERE account_id = ${accountId}::uuid`);
  const rowsOf = jest.spyOn(test.database, 'rows');
  const loop = new RecountKeyCapsLoop(test.database, new SpendCapStore());
  expect(await loop.runOnce()).toBe(1);
  const pages = rowsOf.mock.calls.filter(([{ sql }]) => sql.includes('"apiKeyId", (r.finished_at'));
  rowsOf.mockRestore();
  expect(pages).toHaveLength(1);
  expect(await useOf('@key', keyId)).toMatchObject(await charged());
});
