import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { LOOKED_AT } from '@millrace/database';
import {
  createTestDatabase,
  makeAccount,
  makePool,
  readingsOf,
  type Reading,
  type TestDatabase,
} from '@millrace/testing';
import { AssetListStore, type AssetFilter } from './asset-list.store';
import type { AssetRecord } from './asset';
import { wholeAccount } from './asset-scope.store';

/** Enough that PostgreSQL prefers an index wherever there is one that serves. */
const OUTPUTS = 20_000;
const BLOBS = 1_000;
const PAGE = 20;
const DAY = Date.parse('2026-01-01T00:00:00Z');
const SECOND_MS = 1_000;

let test: TestDatabase;
let accountId: string;
const store = new AssetListStore();
beforeAll(async () => {
  test = await createTestDatabase();
  accountId = await makeCustomer();
  // Uploads are the oldest, pictures the oldest of the outputs.
  await fill(accountId, 'upload', 'image/png', 30, 0);
  await fill(accountId, 'output', 'image/png', 5, 1_000);
  await fill(accountId, 'output', 'text/plain', OUTPUTS, 2_000);
  await fill(await makeCustomer(), 'upload', 'image/png', OUTPUTS, 0);
  await test.database.execute(Prisma.sql`ANALYZE assets, blobs`);
});
afterAll(() => test.drop());

async function makeCustomer(): Promise<string> {
  const id = await makeAccount(test.database);
  await test.database.execute(Prisma.sql`
    INSERT INTO blobs (account_id, hash, size_bytes)
    SELECT ${id}::uuid, 'blake3:' || lpad(to_hex(n), 64, '0'), 1 FROM generate_series(0, ${BLOBS - 1}::int) n`);
  return id;
}

/** Make assets, a second after each other from so many seconds after the day's begin on. */
async function fill(
  account: string,
  kind: 'upload' | 'output',
  type: string,
  count: number,
  from: number,
): Promise<void> {
  const jobId = kind === 'output' ? Prisma.sql`gen_random_uuid()` : Prisma.sql`NULL::uuid`;
  await test.database.execute(Prisma.sql`
    INSERT INTO assets (id, account_id, hash, size_bytes, content_type, job_id, created_at)
    SELECT gen_random_uuid(), ${account}::uuid, 'blake3:' || lpad(to_hex(n % ${BLOBS}::int), 64, '0'), 1, ${type}, ${jobId},
      ${new Date(DAY)}::timestamptz + make_interval(secs => ${from} + n)
    FROM generate_series(1, ${count}::int) n`);
}

const at = (seconds: number): Date => new Date(DAY + seconds * SECOND_MS);
const filterOf = (filter: Partial<AssetFilter>): AssetFilter => ({
  kind: 'output',
  contentType: null,
  createdAfter: null,
  createdBefore: null,
  from: null,
  limit: PAGE,
  ...filter,
});

/** How the assets of a page were read. */
const readingsOfAssets = (filter: Partial<AssetFilter>): Promise<Reading[]> =>
  readingsOf(test.database, store.listSql(wholeAccount(accountId), filterOf(filter)), 'assets');
/** How many rows they looked at. */
const seenBy = (readings: Reading[]): number => readings.reduce((sum, { rows }) => sum + rows, 0);

/** All pages of a list, one after the other. */
async function pagesOf(filter: Partial<AssetFilter>): Promise<AssetRecord[][]> {
  const pages: AssetRecord[][] = [];
  let from: AssetFilter['from'] = null;
  do {
    const { assets, next } = await store.list(test.database, wholeAccount(accountId), filterOf({ ...filter, from }));
    pages.push(assets);
    from = next;
  } while (from !== null);
  return pages;
}

describe('a page of assets', () => {
  const some = { id: '80000000-0000-4000-8000-000000000000' };
  it.each<[string, Partial<AssetFilter>]>([
    ['the newest', {}],
    ['after a cursor', { from: { ...some, createdAt: at(9_000) } }],
    ['the last', { from: { ...some, createdAt: at(1_003) } }],
    ['of uploads, behind 20,000 outputs', { kind: 'upload' }],

    ['of a time', { createdAfter: at(500), createdBefore: at(2_004) }],
    ['of a time that nothing is from', { createdAfter: new Date('2999-01-01') }],
    ['of a common type', { contentType: 'text/' }],
    ['of uploads of a type', { kind: 'upload', contentType: 'image/' }],
  ])('%s is read by an index, at the price of the rows it shows', async (_what, filter) => {
    const readings = await readingsOfAssets(filter);
    expect(readings.map(({ node }) => node)).toEqual(['Index Scan']);
    expect(seenBy(readings)).toBeLessThan(4 * PAGE);
  });

  it('of the outputs of a sub-key is read by what its jobs made, not by what the account has', async () => {
    const { poolId } = await makePool(test.database);
    await test.database.models.accountQueue.create({ data: { poolId, accountId, runningLimit: 1 } });
    const own = { id: newId(), accountId, poolId, surface: 'cloud', maxAttempts: 1, metadata: { user: 'ada' } };
    const { id: jobId } = await test.database.models.job.create({
      data: { ...own, deadlineAt: at(0), expiresAt: at(0) },
    });
    const mine = await pagesOf({ limit: 3 });
    const ids = (mine[0] ?? []).map(({ id }) => id);
    await test.database.execute(Prisma.sql`
      UPDATE assets SET job_id = ${jobId}::uuid WHERE id = ANY(${ids}::uuid[])`);
    const sql = store.listSql({ accountId, labels: { user: 'ada' } }, filterOf({}));
    const readings = await readingsOf(test.database, sql, 'assets');
    expect(readings.map(({ index }) => index)).toEqual(['assets_job_idx']);
    expect(seenBy(readings)).toBe(ids.length);
  });

  it('of a type that is rare looks at a thousand rows, and says where it goes on', async () => {
    expect(seenBy(await readingsOfAssets({ contentType: 'image/' }))).toBeLessThan(LOOKED_AT + 2);
    const pages = await pagesOf({ contentType: 'image/' });
    expect(pages).toHaveLength(OUTPUTS / LOOKED_AT + 1);
    expect(pages.map(({ length }) => length)).toEqual([...Array.from({ length: OUTPUTS / LOOKED_AT }, () => 0), 5]);
  });
});

describe('the pages of a list', () => {
  it('have each asset once, newest first, and end also where the last page is full', async () => {
    const pages = await pagesOf({ kind: 'upload', limit: 10 });
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 10]);
    const times = pages.flat().map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual(Array.from({ length: 30 }, (_, n) => at(30 - n).getTime()));
  });

  it('have assets of one moment once', async () => {
    const account = accountId;
    accountId = await makeCustomer();
    for (let n = 0; n < 5; n += 1) await fill(accountId, 'output', 'text/plain', 1, 1);
    const pages = await pagesOf({ limit: 2 });
    accountId = account;
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(5);
  });

  it('show no asset that has expired', async () => {
    const account = accountId;
    accountId = await makeCustomer();
    await fill(accountId, 'upload', 'text/plain', 5, 1);
    await test.database.execute(Prisma.sql`
      UPDATE assets SET expires_at = now() - interval '1 second'
      WHERE account_id = ${accountId}::uuid AND created_at > ${at(3)}::timestamptz`);
    const pages = await pagesOf({ kind: 'upload', limit: 2 });
    accountId = account;
    expect(pages.flat().map(({ createdAt }) => createdAt)).toEqual([at(3), at(2)]);
  });
});
