import { Prisma } from '@prisma/client';
import pg from 'pg';
import { JOB_STATUSES, newId, type JobStatus } from '@millrace/contracts';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { countAhead } from '../fixtures/count-ahead';
import type { JobRecord, JobScope } from '../state/job';
import { JobStore, type AskedJob, type JobFilter } from './job.store';

/** Enough that PostgreSQL prefers an index wherever there is one that serves. */
const JOBS = 20_000;
const PAGE = 21;

let test: TestDatabase;
let poolId: string;
let cloud: JobScope;
let deployment: JobScope;
let made = 0;
const store = new JobStore();
beforeAll(async () => {
  test = await createTestDatabase();
  ({ poolId } = await makePool(test.database));
  cloud = await makeCustomer();
  deployment = { ...cloud, surface: 'deployment', deploymentId: newId() };
  // Nearly all have succeeded on the cloud surface; the few of everything else are the oldest.
  for (const status of JOB_STATUSES) await fill(cloud, status, 5, { project: 'rare' });
  await fill(deployment, 'succeeded', 5);
  await fill(cloud, 'succeeded', JOBS, { project: 'common' });
  await test.database.execute(Prisma.sql`ANALYZE jobs`);
});
afterAll(() => test.drop());

/** An account that submits jobs to the pool on the cloud surface. */
async function makeCustomer(): Promise<JobScope> {
  const accountId = await makeAccount(test.database);
  await test.database.execute(Prisma.sql`
    INSERT INTO account_queues (pool_id, account_id, running_limit) VALUES (${poolId}, ${accountId}::uuid, 1)`);
  return { accountId, surface: 'cloud', deploymentId: null, labels: null };
}

const labelled = (project: string): JobScope => ({ ...cloud, labels: { project } });

/** Make jobs that count up in their ids. */
async function fill(scope: JobScope, status: JobStatus, count: number, metadata: object = {}): Promise<void> {
  const delivery = status === 'queued' ? 'waiting' : ['running', 'canceling'].includes(status) ? 'leased' : 'done';
  const error = status === 'failed' ? '{"code":"engine_error","message":"it is away"}' : null;
  await test.database.execute(Prisma.sql`
    INSERT INTO jobs (id, account_id, pool_id, surface, deployment_id, status, delivery, attempt, max_attempts, started_at,
      completed_at, charged_micros, deadline_at, expires_at, lease_token, lease_expires_at, worker_id, error, metadata)
    SELECT (lpad(to_hex(${made} + n), 8, '0') || '-0000-7000-8000-000000000000')::uuid, ${scope.accountId}::uuid, ${poolId},
      ${scope.surface}, ${scope.deploymentId}::uuid, ${status}, d.delivery, CASE WHEN d.delivery = 'waiting' THEN 0 ELSE 1 END,
      3, CASE WHEN d.delivery <> 'waiting' THEN now() END, CASE WHEN d.delivery = 'done' THEN now() END,
      CASE WHEN d.delivery = 'done' THEN 0 END, now() + interval '1 day', now() + interval '7 days',
      CASE WHEN d.delivery = 'leased' THEN gen_random_uuid() END, CASE WHEN d.delivery = 'leased' THEN now() END,
      CASE WHEN d.delivery = 'leased' THEN gen_random_uuid() END, ${error}::jsonb, ${JSON.stringify(metadata)}::jsonb
    FROM generate_series(1, ${count}::int) AS n, (SELECT ${delivery}::text AS delivery) AS d`);
  if (delivery === 'waiting') {
    await test.database.execute(Prisma.sql`
      UPDATE account_queues SET waiting = waiting + ${count}
      WHERE pool_id = ${poolId} AND account_id = ${scope.accountId}::uuid`);
  }
  made += count;
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Rows Removed by Filter'?: number;
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: Plan[];
}

/** The parts of a statement's plan that read the table of jobs, as they were run. */
async function readingsOf(sql: Prisma.Sql): Promise<Plan[]> {
  const [row] = await test.database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
  );
  const all = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(all)];
  const plan = row?.['QUERY PLAN'][0].Plan;
  return plan === undefined ? [] : all(plan).filter((part) => part['Relation Name'] === 'jobs');
}

/** How many jobs they looked at. */
const seenBy = (readings: Plan[]): number =>
  readings.reduce(
    (sum, reading) =>
      sum + (reading['Actual Rows'] + (reading['Rows Removed by Filter'] ?? 0)) * reading['Actual Loops'],
    0,
  );

const filterOf = (filter: Partial<JobFilter>): JobFilter => ({
  status: null,
  metadata: {},
  before: null,
  since: null,
  limit: PAGE,
  ...filter,
});

describe('a page of a list', () => {
  const pages: [string, () => JobScope, Partial<JobFilter>][] = [
    ['the newest', () => cloud, {}],
    ['after a cursor', () => cloud, { before: '00001000-0000-7000-8000-000000000000' }],
    ['the last', () => cloud, { before: '00000008-0000-7000-8000-000000000000' }],
    [
      'of a time',
      () => cloud,
      { since: '00000008-0000-7000-8000-000000000000', before: '00001000-0000-7000-8000-000000000000' },
    ],
    ['of a time that nothing is from', () => cloud, { since: 'ffffffff-0000-7000-8000-000000000000' }],
    ['of a deployment', () => deployment, {}],
    ['of a deployment, with a status', () => deployment, { status: 'succeeded' }],
    ...JOB_STATUSES.map((status): [string, () => JobScope, Partial<JobFilter>] => [
      `with the status ${status}`,
      () => cloud,
      { status },
    ]),
    ['with a label that few have', () => cloud, { metadata: { project: 'rare' } }],
    ['with a label that most have', () => cloud, { metadata: { project: 'common' } }],
    ['with a label that none has', () => cloud, { metadata: { project: 'none' } }],
    ['of a sub-key that has few', () => labelled('rare'), {}],
    ['of a sub-key that has most', () => labelled('common'), {}],
    ['of a sub-key that has none', () => labelled('none'), {}],
    ['of a sub-key, with a status', () => labelled('rare'), { status: 'succeeded' }],
    ['of a sub-key, with a label of another one', () => labelled('common'), { metadata: { project: 'rare' } }],
  ];

  it.each(pages)('%s is read by an index, at the price of the rows it shows', async (_what, scope, filter) => {
    const readings = await readingsOf(store.listSql(scope(), filterOf(filter)));
    expect(readings.length).toBeGreaterThan(0);
    for (const reading of readings) expect(reading['Node Type']).not.toBe('Seq Scan');
    // The rare of another status or surface lie between; 20,000 do not.
    expect(seenBy(readings)).toBeLessThan(200);
  });
});

describe('jobs that are asked for together', () => {
  it('each are found in the scope that asks, and in no other', async () => {
    const stranger = await makeCustomer();
    const [mine, last] = (await store.list(test.database, cloud, filterOf({}))).jobs.map(({ id }) => id);
    const [deployed] = (await store.list(test.database, deployment, filterOf({}))).jobs.map(({ id }) => id);
    const asked = (scope: JobScope, id: string | undefined): AskedJob => ({ scope, id: id ?? '', withLogs: true });
    const asks = [
      asked(deployment, deployed),
      asked(stranger, mine),
      asked(cloud, mine),
      asked(deployment, mine),
      asked(cloud, deployed),
      asked({ ...deployment, deploymentId: newId() }, deployed),
      asked(cloud, newId()),
      asked(cloud, last),
      asked(cloud, mine),
      asked(labelled('common'), mine),
      asked(labelled('rare'), mine),
      asked({ ...cloud, labels: { project: 'common', user: 'ada' } }, mine),
    ];
    const found = [deployed, null, mine, null, null, null, null, last, mine, mine, null, null];
    expect((await store.findAsked(test.database, asks)).map((job) => job?.id ?? null)).toEqual(found);
    expect((await store.factsAsked(test.database, asks)).map((job) => job?.id ?? null)).toEqual(found);
  });

  it('are read by their keys, however many others there are', async () => {
    const { jobs } = await store.list(test.database, cloud, filterOf({}));
    const asks = jobs.map(({ id }) => ({ scope: cloud, id, withLogs: true }));
    for (const sql of [store.findAskedSql(asks), store.factsAskedSql(asks)]) {
      // What a sub-key is shown of reused jobs is not looked up here.
      const readings = (await readingsOf(sql)).filter((reading) => reading['Actual Loops'] > 0);
      expect(readings.map((reading) => reading['Node Type'])).toEqual(['Index Scan']);
      expect(seenBy(readings)).toBe(asks.length);
    }
  });
});

describe('a page of jobs with very many outputs', () => {
  /** Give each job of a customer as many outputs, all of the same bytes. */
  async function fillOutputs({ accountId }: JobScope, count: number): Promise<void> {
    const hash = `blake3:${'0'.repeat(64)}`;
    await test.database.execute(Prisma.sql`
      INSERT INTO blobs (account_id, hash, size_bytes) VALUES (${accountId}::uuid, ${hash}, 1)`);
    await test.database.execute(Prisma.sql`
      WITH made AS MATERIALIZED (
        SELECT j.id AS job_id, n, gen_random_uuid() AS asset_id FROM jobs j, generate_series(1, ${count}::int) AS n
        WHERE j.account_id = ${accountId}::uuid
      ), asset AS (
        INSERT INTO assets (id, account_id, hash, size_bytes, content_type)
        SELECT m.asset_id, ${accountId}::uuid, ${hash}, 1, 'text/plain' FROM made m
      )
      INSERT INTO job_outputs (job_id, node_id, node_index, attempt, ordinal, name, type, asset_id)
      SELECT m.job_id, '1', m.n, 1, m.n, m.n || '.txt', 'text', m.asset_id FROM made m`);
  }

  it('ends with the job that has the thousandth; each job has all of its own, and the next page goes on', async () => {
    const customer = await makeCustomer();
    await fill(customer, 'succeeded', 5);
    await fillOutputs(customer, 600);
    const pages: number[][] = [];
    let before: string | null = null;
    for (let more = true; more;) {
      const page: { jobs: JobRecord[]; more: boolean } = await store.list(
        test.database,
        customer,
        filterOf({ before }),
      );
      pages.push(page.jobs.map(({ outputs }) => outputs.length));
      before = page.jobs.at(-1)?.id ?? null;
      ({ more } = page);
    }
    expect(pages).toEqual([[600, 600], [600, 600], [600]]);
    expect((await store.list(test.database, customer, filterOf({ limit: 2 }))).more).toBe(true);
    expect(await store.list(test.database, customer, filterOf({ before, limit: 2 }))).toEqual({
      jobs: [],
      more: false,
    });
  });
});

describe('the places of the waiting jobs of a page', () => {
  const waiting = async (filter: Partial<JobFilter>): Promise<JobRecord[]> =>
    (await store.list(test.database, cloud, filterOf({ status: 'queued', ...filter }))).jobs;
  const QUEUED = 2_000;

  it('are the same as when each job is counted alone', async () => {
    const jobs = await waiting({});
    const ahead = await store.countAheadOfEach(test.database, cloud.accountId, jobs);
    for (const job of jobs) expect(ahead.get(job.id)).toBe(await countAhead(test.database, job));
    expect([...ahead.values()].sort()).toEqual([0, 1, 2, 3, 4]);
  });

  it('are read at the price of those behind the oldest of the page, however many of others wait', async () => {
    await fill(await makeCustomer(), 'queued', JOBS);
    await fill(cloud, 'queued', QUEUED);
    await test.database.execute(Prisma.sql`VACUUM (ANALYZE) jobs`);
    const readings = await readingsOf(store.aheadOfEachSql(cloud.accountId, await waiting({})));
    expect(readings.map((reading) => reading['Node Type'])).not.toContain('Seq Scan');
    expect(seenBy(readings)).toBeLessThan(200);
  });

  it('are the same on any page and with any priorities', async () => {
    await fill(cloud, 'queued', QUEUED);
    await test.database.execute(Prisma.sql`
      UPDATE jobs SET priority = hashtext(id::text) % 2
      WHERE account_id = ${cloud.accountId}::uuid AND status = 'queued' AND hashtext(id::text) % 7 = 0`);
    const all = await waiting({ limit: 3 * QUEUED });
    for (const { id } of all.filter((_, n) => n % 450 === 0)) {
      const jobs = await waiting({ before: id });
      const ahead = await store.countAheadOfEach(test.database, cloud.accountId, jobs);
      for (const job of jobs) expect(ahead.get(job.id)).toBe(await countAhead(test.database, job));
    }
  });
});

describe('the statements of lists and polls', () => {
  /** As often as PostgreSQL plans a prepared statement for its values, before it compares that with a plan for any. */
  const PLANNED_FOR_VALUES = 5;

  it('are planned once on each connection, however many jobs an account has', async () => {
    const client = new pg.Client({ connectionString: test.url });
    await client.connect();
    const { jobs } = await store.list(test.database, cloud, filterOf({ status: 'queued' }));
    const asks = jobs.map(({ id }) => ({ scope: cloud, id, withLogs: false }));
    const statements: [string, Prisma.Sql][] = [
      ['newest', store.listSql(cloud, filterOf({}))],
      ['next', store.listSql(cloud, filterOf({ before: jobs[0]?.id ?? null, limit: 50 }))],
      ['ended', store.listSql(cloud, filterOf({ status: 'succeeded' }))],
      ['places', store.aheadOfEachSql(cloud.accountId, jobs)],
      ['poll', store.findAskedSql(asks.slice(0, 1))],
      ['facts of a poll', store.factsAskedSql(asks.slice(0, 1))],
      ['polls at once', store.findAskedSql(asks)],
    ];
    for (const [name, { text, values }] of statements) {
      for (let n = 0; n <= PLANNED_FOR_VALUES + 1; n += 1) await client.query({ name, text, values });
    }
    const { rows } = await client.query('SELECT name, custom_plans::int FROM pg_prepared_statements ORDER BY name');
    await client.end();
    expect(rows).toEqual(
      statements
        .map(([name]) => ({ name, custom_plans: PLANNED_FOR_VALUES }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
  });
});
