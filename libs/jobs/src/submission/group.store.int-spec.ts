import { Prisma } from '@prisma/client';
import { ACCOUNT_CLOSED, AccountErasureStore } from '@millrace/accounts';
import { newId } from '@millrace/contracts';
import { RefusedError } from '@millrace/database';
import { readSettings } from '@millrace/platform';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld, type TestDraft } from '../fixtures/job-world';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { jobSettings } from '../job.settings';
import { GroupStore } from './group.store';
import type { JobDraft } from './submission';

const ACCOUNTS = 5_000;
const LOCK_WAIT_MS = 100;

/** Longer than any test. */
const NEVER_MS = 600_000;

const groups = new GroupStore(readSettings(jobSettings, {}));
let test: TestDatabase;
let world: JobWorld;
let nodes: PlanNode[];
beforeAll(async () => {
  test = await createTestDatabase();
  const { database } = test;
  world = new JobWorld(test);
  const { poolId } = await makePool(database);
  await database.execute(Prisma.sql`
    INSERT INTO accounts (id, name) SELECT gen_random_uuid(), 'one of many' FROM generate_series(1, ${ACCOUNTS}::int)`);
  await database.execute(Prisma.sql`INSERT INTO balances (account_id) SELECT id FROM accounts`);
  await database.execute(
    Prisma.sql`INSERT INTO account_storage (account_id) SELECT id FROM accounts ON CONFLICT DO NOTHING`,
  );
  await database.execute(Prisma.sql`
    INSERT INTO account_queues (pool_id, account_id, running_limit) SELECT ${poolId}, id, 1 FROM accounts`);
  await database.execute(Prisma.sql`
    INSERT INTO idempotency_keys (account_id, operation, key, subject_id, expires_at)
    SELECT id, 'postJobs', 'key', id, now() FROM accounts`);
  await world.queueMany((await makePool(database)).poolId, (await world.draft()).accountId, ACCOUNTS);
  for (const table of ['accounts', 'balances', 'account_storage', 'account_queues', 'idempotency_keys', 'jobs']) {
    await database.execute(Prisma.raw(`ANALYZE ${table}`));
  }
  const drafts = [await world.draft({ idempotencyKey: newId() }), await world.draft({ inputAssetIds: [newId()] })];
  const sql = groups.recordSql(drafts, LOCK_WAIT_MS);
  const [row] = await database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(Prisma.sql`EXPLAIN (FORMAT JSON) ${sql}`);
  nodes = (row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => nodesOf(Plan));
});
afterAll(() => test.drop());

describe('the statement of a group', () => {
  it('reads no table but by an index, however many accounts there are; there are few pools', () => {
    const read = nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']);
    expect(read.filter((table) => table !== 'pools')).toEqual([]);
    expect(nodes.flatMap((node) => node['Index Name'] ?? []).sort()).toEqual([
      'account_storage_pkey',
      'accounts_pkey',
      'api_keys_pkey',
      'balances_pkey',
      'label_rules_key',
      'label_rules_key',
    ]);
  });

  it.each([
    ['idempotency_keys', ['account_id', 'idempotency_key']],
    ['account_queues', ['pool_id', 'account_id']],
    ['balances', ['account_id']],
  ])('locks rows of %s in the order of their key', (table, key) => {
    const write = nodes.find((node) => node['Node Type'] === 'ModifyTable' && node['Relation Name'] === table);
    if (write === undefined) throw new Error(`nothing writes ${table}`);
    const [sort] = nodesOf(write).filter((node) => node['Node Type'].endsWith('Sort'));
    expect(sort?.['Sort Key']?.map((column) => column.replace(/^.*\./, '')).slice(0, key.length)).toEqual(key);
  });
});

it('keeps the graph of each by the letter, in any script', async () => {
  const graphs = ['{"1":{"class_type":"Ä","inputs":{"t":"猫 😀 \\u0000 \\n"}}}', '{}', '{"2":{"class_type":"é"}}'];
  const drafts: JobDraft[] = [];
  for (const workflow of graphs) drafts.push(await world.draft({ workflow }));
  const jobs = await groups.record(test.database, drafts, NEVER_MS);
  const kept = await Promise.all(
    jobs.map(({ id: jobId }) => test.database.models.jobGraph.findUniqueOrThrow({ where: { jobId } })),
  );
  expect(kept.map(({ workflow }) => workflow)).toEqual(graphs);
});

describe('a group of which one cannot be recorded', () => {
  it('is refused, and leaves nothing: an account that was closed meanwhile', async () => {
    const drafts = [await world.draft(), await world.draft()];
    const [one, closed] = drafts.map(({ accountId }) => accountId);
    await test.database.transaction((tx) => new AccountErasureStore().close(tx, String(closed)));
    await expect(groups.record(test.database, drafts, NEVER_MS)).rejects.toEqual(new RefusedError(ACCOUNT_CLOSED));
    expect(await test.database.models.job.count({ where: { accountId: one } })).toBe(0);
  });

  const refused: [string, Partial<TestDraft>, number][] = [
    ['idempotency_key_reuse', { idempotencyKey: 'used' }, 1],
    ['storage_full', { storageBytes: 0 }, 1],
    ['queue_full', { queueLimit: 3 }, 3],
    ['insufficient_credits', { holdMicros: 30n }, 3],
  ];
  it.each(refused)('is refused, and leaves nothing: %s', async (reason, overrides, count) => {
    const accountId = await makeAccount(test.database, { micros: 100n });
    const { poolId } = await makePool(test.database);
    await world.submit({ accountId, poolId, idempotencyKey: 'used', holdMicros: 20n });
    const drafts: JobDraft[] = [await world.draft({ idempotencyKey: 'its own' })];
    while (drafts.length <= count) drafts.push(await world.draft({ accountId, poolId, holdMicros: 0n, ...overrides }));
    await expect(groups.record(test.database, drafts, NEVER_MS)).rejects.toMatchObject({ reason });
    const { models } = test.database;
    const of = { accountId: { in: drafts.map((draft) => draft.accountId) } };
    expect(await models.job.count({ where: of })).toBe(1);
    expect(await models.idempotencyKey.count({ where: of })).toBe(1);
    expect(await models.accountQueue.findMany({ where: of, select: { waiting: true } })).toEqual([{ waiting: 1 }]);
    expect(await models.jobGraph.count({ where: { jobId: { in: drafts.flatMap(({ id }) => id ?? []) } } })).toBe(0);
  });
});
