import { Prisma } from '@prisma/client';
import type { JobMetadata } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { createTestDatabase, makeAccount, readingRows, type TestDatabase } from '@millrace/testing';
import { apiKeyState } from './api-key-record';
import { ApiKeyStore } from './api-key.store';
import { MemberStore } from './members/member.store';

const GONE = 5_000;
/** Live ones, and what a plan may read beside them. */
const FEW = 20;

const keys = new ApiKeyStore();
const members = new MemberStore();
let test: TestDatabase;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase(2);
  accountId = await makeAccount(test.database);
  await test.database.execute(Prisma.sql`
    INSERT INTO api_keys (id, account_id, name, key_hash, last_four, labels, expires_at, revoked_at)
    SELECT gen_random_uuid(), ${accountId}::uuid, 'one of many', sha256(i::text::bytea), 'abcd', CASE WHEN i % 3 > 0 THEN '{"user":"u1"}'::jsonb END,
      CASE WHEN i > 10 AND i % 2 = 0 THEN now() - interval '1 minute' WHEN i % 5 = 0 THEN now() + interval '1 day' END,
      CASE WHEN i > 10 AND i % 2 = 1 THEN now() - interval '1 day' WHEN i % 7 = 0 THEN now() + interval '1 day' END
    FROM generate_series(1, ${GONE}::int) i`);
  await test.database.execute(Prisma.sql`
    INSERT INTO members (id, account_id, email, role, removed_at)
    SELECT gen_random_uuid(), a.id, i || '@example.test', 'viewer', CASE WHEN a.id = ${accountId}::uuid AND i > 10 THEN now() END
    FROM generate_series(1, ${GONE}::int) i, unnest(${[accountId, await makeAccount(test.database)]}::uuid[]) AS a (id)`);
  for (const table of ['api_keys', 'members']) await test.database.execute(Prisma.raw(`ANALYZE ${table}`));
});
afterAll(() => test.drop());

/** What is counted, and how many rows of the table are read for it. */
const counted = (
  table: string,
  count: (tx: Statements) => Promise<number>,
): Promise<{ result: number; rows: number }> =>
  test.database.transaction((tx) => readingRows(tx, table, () => count(tx)));

describe('what an account has is counted under its lock, and listed, without reading all that has ended', () => {
  it('keys', async () => {
    const { result, rows } = await counted('api_keys', (tx) => keys.countLive(tx, accountId, { subKeys: false }, 100));
    expect(result).toBe(3);
    expect(rows).toBeLessThan(FEW);
  });

  it('sub-keys, and no more of them than there may be', async () => {
    const { result, rows } = await counted('api_keys', (tx) => keys.countLive(tx, accountId, { subKeys: true }, 100));
    expect(result).toBe(7);
    expect(rows).toBeLessThan(FEW);
    expect((await counted('api_keys', (tx) => keys.countLive(tx, accountId, { subKeys: true }, 5))).result).toBe(5);
  });

  it('keys, which are listed with those that ended last', async () => {
    const { result: listed, rows } = await test.database.transaction((tx) =>
      readingRows(tx, 'api_keys', () => keys.list(tx, accountId, {}, 10)),
    );
    expect(rows).toBeLessThan(5 * FEW);
    const ended = listed.filter((key) => apiKeyState(key, new Date()) !== 'live');
    expect([listed.length, ended.length]).toEqual([20, 10]);
    expect(ended.filter(({ revokedAt }) => revokedAt !== null && revokedAt < new Date())).toEqual([]);
    expect(listed.map(({ id }) => id)).toEqual(
      listed
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
  });

  it('sub-keys, which are listed by their labels with those that ended last', async () => {
    const list = (labels: JobMetadata) =>
      test.database.transaction((tx) => readingRows(tx, 'api_keys', () => keys.list(tx, accountId, labels, 10)));
    const { result: listed, rows } = await list({ user: 'u1' });
    expect(rows).toBeLessThan(5 * FEW);
    expect([listed.length, listed.filter((key) => apiKeyState(key, new Date()) === 'live').length]).toEqual([17, 7]);
    const none = await list({ user: 'nobody' });
    expect(none.result).toEqual([]);
    expect(none.rows).toBeLessThan(10 * FEW);
  });

  it('members', async () => {
    const { result, rows } = await counted('members', async (tx) => (await members.list(tx, accountId)).length);
    expect(result).toBe(10);
    expect(rows).toBeLessThan(FEW);
  });
});
