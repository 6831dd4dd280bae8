import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { Prisma } from '@prisma/client';
import { ACCOUNT_CLOSED, AccountErasureStore, SUB_KEY_REVOKED } from '@millrace/accounts';
import { RefusedError, besideTransaction, isKeyClaimed, type Statements } from '@millrace/database';
import { createdAtOf, newId } from '@millrace/contracts';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { readSettings } from '@millrace/platform';
import { JobAudit } from '../audit';
import { OutputJobs } from '../fixtures/output-jobs';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { deleteExpiredJobs } from '../lifecycle/due-jobs.store';
import { jobSettings } from '../job.settings';
import { ReuseStore, type ReusedDraft, type ReusedJob } from './reuse.store';

const GONE = { reason: 'reuse_gone' };

let test: TestDatabase;
let world: OutputJobs;
let key: Buffer;
/** A session that looks who waits. */
let looker: pg.Client;
const store = new ReuseStore(readSettings(jobSettings, {}));
beforeAll(async () => {
  test = await createTestDatabase();
  looker = new pg.Client({ connectionString: test.url });
  await looker.connect();
});
afterAll(async () => {
  await looker.end();
  await test.drop();
});
beforeEach(async () => {
  key = randomBytes(32);
  world = await OutputJobs.make(test);
});
afterEach(async () => {
  const found: unknown[] = [];
  for await (const finding of new JobAudit(test.database).findings()) found.push(finding);
  expect(found).toEqual([]);
  expect(await world.jobs.findings()).toEqual([]);
  await world.drop();
});

/** A job with the key that has succeeded, with an output for each text. @returns its id. */
async function made(...texts: string[]): Promise<string> {
  const { id } = await world.jobs.world.submit({ reuseKey: key, holdMicros: 0n, priceMicrosPerSecond: 0n });
  const claimed = await world.jobs.start();
  if (claimed === null) throw new Error('nothing was claimed');
  for (const [at, text] of texts.entries()) await world.record(claimed, text, at);
  await world.jobs.end(claimed, 1_000, 'succeeded');
  return id;
}

async function draft(changes: Partial<ReusedDraft> = {}): Promise<ReusedDraft> {
  return world.jobs.world.draft({ reuseKey: key, metadata: { user: 'ada' }, ...changes });
}

const find = (accountId = world.jobs.accountId): ReturnType<ReuseStore['find']> =>
  store.find(test.database, { accountId, labels: null }, key);
const record = async (sourceId: string, changes: Partial<ReusedDraft> = {}): Promise<ReusedJob> =>
  store.record(test.database, await draft(changes), sourceId);

async function expire(id: string): Promise<void> {
  await test.database.execute(
    Prisma.sql`UPDATE assets SET expires_at = now() - interval '1 s' WHERE job_id = ${id}::uuid`,
  );
  await amend(id, Prisma.sql`deadline_at = now() - interval '1 s', expires_at = now() - interval '1 s'`);
}

/** Change a job that has ended, which no statement of the service does. */
async function amend(id: string, changes: Prisma.Sql): Promise<void> {
  await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`UPDATE jobs SET ${changes} WHERE id = ${id}::uuid`);
  });
}

async function sweep(): Promise<void> {
  await world.runLoop('expire-assets');
  await world.runLoop('sweep-blobs');
}

describe('a job that is answered with earlier outputs', () => {
  it('has succeeded at once, with outputs of its own over the same bytes, uncharged and without an attempt', async () => {
    const source = await made('one', 'two');
    expect(await find()).toEqual({ id: source, reusedFrom: source });
    const before = await world.jobs.balance();
    const reused = await record(source);
    expect(reused.reusedFrom).toBe(source);
    expect(reused.outputs.map(({ name, nodeId, ordinal, sizeBytes }) => [name, nodeId, ordinal, sizeBytes])).toEqual([
      ['0.txt', '1', 0, 3],
      ['1.txt', '1', 1, 3],
    ]);
    expect((await world.outputs(reused.id)).map(({ text }) => text)).toEqual(['one', 'two']);
    const assets = await Promise.all([source, reused.id].map((id) => world.keptAssets(id)));
    expect(new Set(assets.flat()).size).toBe(4);
    expect(await world.jobs.world.history(reused.id)).toEqual(['queued', 'succeeded']);
    const row = await test.database.models.job.findUniqueOrThrow({
      where: { id: reused.id },
      include: { attempts: true },
    });
    const at = new Date(createdAtOf(reused.id));
    expect(row).toMatchObject({
      attempt: 0,
      startedAt: null,
      createdAt: at,
      updatedAt: at,
      completedAt: at,
      chargedMicros: 0n,
      heldMicros: 0n,
      billableMs: 0n,
      attempts: [],
    });
    expect(await world.jobs.balance()).toEqual(before);
    expect(await test.database.models.usageRecord.findUniqueOrThrow({ where: { jobId: reused.id } })).toMatchObject({
      status: 'succeeded',
      chargedMicros: 0n,
      labels: { user: 'ada' },
    });
  });

  it('keeps its outputs when the earlier job and its own go, and hands the job that ran on', async () => {
    const source = await made('one');
    const reused = await record(source);
    await expire(source);
    expect(await find()).toEqual({ id: reused.id, reusedFrom: source });
    expect(await deleteExpiredJobs(test.database, [source])).toBe(1);
    await sweep();
    expect((await world.outputs(reused.id)).map(({ text }) => text)).toEqual(['one']);
    const again = await record(reused.id);
    expect(again.reusedFrom).toBe(source);
    expect((await world.outputs(again.id)).map(({ text }) => text)).toEqual(['one']);
  });

  it('is answered to a sub-key only with what jobs with its labels made', async () => {
    const { accountId } = world.jobs;
    const source = await made('one');
    const ofSubKey = (user: string): ReturnType<ReuseStore['find']> =>
      store.find(test.database, { accountId, labels: { user } }, key);
    expect(await ofSubKey('ada')).toBeNull();
    const { id } = await record(source);
    // The job that ran has no labels: the sub-key does not find it, and is shown no id of it.
    expect(await ofSubKey('ada')).toEqual({ id, reusedFrom: null });
    expect(await ofSubKey('bob')).toBeNull();
  });

  it('names the job that ran to a sub-key as long as the sub-key finds it', async () => {
    const { accountId } = world.jobs;
    const scope = { accountId, labels: { user: 'ada' } };
    const source = await made('one');
    await amend(source, Prisma.sql`metadata = '{"user": "ada", "shot": "7"}'`);
    const { id } = await record(source);
    expect(await store.find(test.database, scope, key)).toEqual({ id, reusedFrom: source });
    await expire(source);
    expect(await store.find(test.database, scope, key)).toEqual({ id, reusedFrom: null });
    expect(await find()).toEqual({ id, reusedFrom: source });
  });

  it('has a log on a deployment, which is empty and whole, and none elsewhere (contract, 2.6)', async () => {
    const source = await made('one');
    const { accountId, poolId } = world.jobs;
    const deploymentId = newId();
    await test.database.models.deployment.create({ data: { id: deploymentId, accountId, name: 'a test', poolId } });
    const there = await record(source, { surface: 'deployment', deploymentId });
    const elsewhere = await record(source);
    const logs = await test.database.models.jobLog.findMany({ where: { jobId: { in: [there.id, elsewhere.id] } } });
    expect(logs).toEqual([
      { jobId: there.id, text: '', truncated: false, complete: true, capturedAt: expect.any(Date) as Date },
    ]);
  });

  it('sends the message of its end to webhooks', async () => {
    const { accountId } = world.jobs;
    const endpoint = newId();
    await test.database.execute(Prisma.sql`
      INSERT INTO webhook_endpoints (id, account_id, url, origin, event_types)
      VALUES (${endpoint}::uuid, ${accountId}::uuid, 'https://example.com', 'https://example.com', '{job.succeeded}')`);
    const reused = await record(await made('one'));
    const messages = await test.database.query<{ type: string }>(Prisma.sql`
      SELECT type FROM webhook_messages WHERE endpoint_id = ${endpoint}::uuid AND job_id = ${reused.id}::uuid`);
    expect(messages).toEqual([{ type: 'job.succeeded' }]);
  });

  it('claims its idempotency key, once', async () => {
    const source = await made('one');
    await record(source, { idempotencyKey: 'a key' });
    await expect(record(source, { idempotencyKey: 'a key' })).rejects.toMatchObject({
      reason: 'idempotency_key_reuse',
    });
    expect(await test.database.models.job.count({ where: { reusedFrom: source } })).toBe(1);
  });

  it('is recorded for each of many that come at once', async () => {
    const source = await made('one', 'two');
    const reused = await Promise.all(Array.from({ length: 8 }, () => record(source)));
    expect(new Set(reused.map(({ id }) => id)).size).toBe(8);
    expect(await world.blobs()).toEqual([
      { live: true, assets: 9 },
      { live: true, assets: 9 },
    ]);
  });
});

it('a job of an account that was closed meanwhile is not answered', async () => {
  const source = await made('one');
  const { accountId } = world.jobs;
  await test.database.transaction((tx) => new AccountErasureStore().close(tx, accountId));
  await expect(record(source, { idempotencyKey: 'key' })).rejects.toEqual(new RefusedError(ACCOUNT_CLOSED));
  expect(await test.database.models.job.count({ where: { accountId } })).toBe(1);
});

it('a job of a sub-key that was revoked meanwhile is not answered', async () => {
  const source = await made('one');
  const { accountId } = world.jobs;
  const subKeyId = newId();
  const key = { name: 'of a user', keyHash: randomBytes(32), lastFour: 'abcd', scopes: [], labels: { user: 'ada' } };
  await test.database.models.apiKey.create({ data: { id: subKeyId, accountId, revokedAt: new Date(0), ...key } });
  await expect(record(source, { subKeyId })).rejects.toEqual(new RefusedError(SUB_KEY_REVOKED));
  expect(await test.database.models.job.count({ where: { accountId } })).toBe(1);
});

describe('an earlier job', () => {
  it('of another account is never found, nor taken', async () => {
    const source = await made('one');
    const other = await makeAccount(test.database);
    expect(await find(other)).toBeNull();
    const { poolId } = world.jobs;
    await expect(record(source, { accountId: other, poolId })).rejects.toMatchObject(GONE);
  });

  it('that failed, runs, or made nothing is not found, nor taken', async () => {
    const empty = await made();
    expect(await find()).toBeNull();
    await expect(record(empty)).rejects.toMatchObject(GONE);
    const failed = await world.jobs.world.submit({ reuseKey: key, holdMicros: 0n, priceMicrosPerSecond: 0n });
    const claimed = await world.jobs.start();
    if (claimed === null) throw new Error('nothing was claimed');
    await world.record(claimed, 'one');
    expect(await find()).toBeNull();
    await expect(record(failed.id)).rejects.toMatchObject(GONE);
    await world.jobs.end(claimed, 1_000, 'node_failed');
    expect(await find()).toBeNull();
    await expect(record(failed.id)).rejects.toMatchObject(GONE);
  });

  it('past its retention is not found, nor taken', async () => {
    const source = await made('one');
    await expire(source);
    expect(await find()).toBeNull();
    await expect(record(source)).rejects.toMatchObject(GONE);
  });

  it('with very many outputs is not found', async () => {
    await made(...Array.from({ length: 101 }, (_, at) => String(at)));
    expect(await find()).toBeNull();
  });

  it('that is deleted while the new one is recorded is not taken: nothing of the new one stays', async () => {
    const source = await made('one');
    await expect(
      behind(
        (tx) => remove(tx, source),
        () => record(source, { idempotencyKey: 'a key' }),
      ),
    ).rejects.toMatchObject(GONE);
    expect(await test.database.models.job.count({ where: { accountId: world.jobs.accountId } })).toBe(0);
    expect(await isKeyClaimed(test.database, world.jobs.accountId, 'postJobs', 'a key')).toBe(false);
  });

  it('cannot be deleted before the new one has its outputs, and takes nothing of them along', async () => {
    const source = await made('one', 'two');
    let reused: ReusedJob | undefined;
    const removed = await behind(
      async (tx) => (reused = await store.record(tx, await besideTransaction(() => draft()), source)),
      () => remove(test.database, source),
    );
    expect(removed).toBe(1);
    await test.database.execute(
      Prisma.sql`UPDATE assets SET expires_at = now() - interval '1 s' WHERE job_id = ${source}::uuid`,
    );
    await sweep();
    expect(await world.keptAssets(source)).toEqual([]);
    expect((await world.outputs(reused?.id ?? '')).map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('whose bytes are being swept is not taken', async () => {
    const source = await made('one');
    const mark = (to: Statements, at: Prisma.Sql): Promise<unknown> =>
      to.execute(Prisma.sql`UPDATE blobs SET orphaned_at = ${at} WHERE account_id = ${world.jobs.accountId}::uuid`);
    await expect(
      behind(
        (tx) => mark(tx, Prisma.sql`'-infinity'`),
        () => record(source),
      ),
    ).rejects.toMatchObject(GONE);
    await mark(test.database, Prisma.sql`NULL`);
    expect((await record(source)).reusedFrom).toBe(source);
  });

  it.each(['lost_at', 'damaged_at', 'orphaned_at'])(
    'whose bytes are no good is not found, nor taken: %s',
    async (column) => {
      const source = await made('one');
      const mark = (at: Prisma.Sql): Promise<unknown> =>
        test.database.execute(Prisma.sql`
        UPDATE blobs SET ${Prisma.raw(column)} = ${at} WHERE account_id = ${world.jobs.accountId}::uuid`);
      await mark(Prisma.sql`now()`);
      expect(await find()).toBeNull();
      await expect(record(source)).rejects.toMatchObject(GONE);
      await mark(Prisma.sql`NULL`);
      expect(await find()).toEqual({ id: source, reusedFrom: source });
      expect((await record(source)).reusedFrom).toBe(source);
    },
  );
});

describe('the search for an earlier job', () => {
  it('goes on to one before it when one output of the latest is lost', async () => {
    const whole = await made('one');
    await made('two', 'three');
    const [lost] = await test.database.query<{ hash: string }>(Prisma.sql`
      SELECT max(hash) AS hash FROM assets WHERE account_id = ${world.jobs.accountId}::uuid AND job_id <> ${whole}::uuid`);
    await test.database.execute(Prisma.sql`
      UPDATE blobs SET lost_at = now() WHERE account_id = ${world.jobs.accountId}::uuid AND hash = ${lost?.hash}`);
    expect(await find()).toEqual({ id: whole, reusedFrom: whole });
  });

  it('reads its index, however many jobs there are', async () => {
    await made('one');
    await world.jobs.world.queueMany((await makePool(test.database)).poolId, await makeAccount(test.database), 5_000);
    await test.database.execute(Prisma.sql`ANALYZE jobs, job_graphs`);
    const [{ 'QUERY PLAN': plans } = { 'QUERY PLAN': [] }] = await test.database.query<{
      'QUERY PLAN': { Plan: PlanNode }[];
    }>(
      Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${store.findSql({ accountId: world.jobs.accountId, labels: null }, key)}`,
    );
    const nodes = plans.flatMap(({ Plan }) => nodesOf(Plan));
    expect(nodes.map((node) => node['Index Name'])).toContain('job_graphs_reuse_key_idx');
    expect(
      nodes.filter(
        (node) => node['Node Type'] === 'Seq Scan' && ['jobs', 'job_graphs'].includes(node['Relation Name'] ?? ''),
      ),
    ).toEqual([]);
  });
});

const remove = (to: Statements, id: string): Promise<number> =>
  to.execute(Prisma.sql`DELETE FROM jobs WHERE id = ${id}::uuid`);

/** Begin `later` while what `first` did has not committed, and commit that once it waits: its snapshot is older then. */
async function behind<T>(first: (tx: Statements) => Promise<unknown>, later: () => Promise<T>): Promise<T> {
  let waiting: Promise<T> | undefined;
  await test.database.transaction(async (tx) => {
    await first(tx);
    waiting = besideTransaction(later);
    waiting.catch(() => undefined);
    await eventually('a statement to wait', async () => {
      const { rowCount } = await looker.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return (rowCount ?? 0) > 0;
    });
  });
  if (waiting === undefined) throw new Error('nothing was begun');
  return waiting;
}
