import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { createTestDatabase, makeAccount, readingRows, type TestDatabase } from '@millrace/testing';
import { FleetGroupStore } from './fleet-group.store';
import { NEW_GROUP } from './plan';
import { ServedPoolStore } from './served-pool.store';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Rows Removed by Filter'?: number;
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: PlanNode[];
}

const DEPLOYMENTS = 500;
const STOPPED_WORKERS = 20_000;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  const { database } = test;
  const accountId = await makeAccount(database);
  await database.execute(Prisma.sql`
    INSERT INTO pools (id, engine) SELECT 'pool-' || n, 'cpu' FROM generate_series(1, ${DEPLOYMENTS}) n`);
  await database.execute(Prisma.sql`
    INSERT INTO deployments (id, account_id, name, pool_id, engine_class)
    SELECT gen_random_uuid(), ${accountId}::uuid, 'd', id, 'cpu' FROM pools WHERE id LIKE 'pool-%'`);
  // Workers stay in the table for a while after they have stopped, and come and go all day where a pool scales to zero.
  await database.execute(Prisma.sql`
    INSERT INTO workers (id, pool_id, engine, version, host, pid, state, stopped_at)
    SELECT gen_random_uuid(), 'pool-' || (1 + n % ${DEPLOYMENTS}), 'cpu', 't', 'h', 1,
           CASE WHEN n % 100 = 0 THEN 'ready' ELSE 'stopped' END, CASE WHEN n % 100 = 0 THEN NULL ELSE now() END
    FROM generate_series(1, ${STOPPED_WORKERS}) n`);
  await database.execute(Prisma.sql`
    INSERT INTO fleet_groups (pool_id, wanted, running, phase) SELECT id, 0, 0, 'idle' FROM pools`);
  await database.execute(Prisma.sql`ANALYZE workers, deployments, pools, fleet_groups`);
});
afterAll(() => test.drop());

/** Every node of the plan of the one statement that is sent. */
async function planOf(send: (to: Statements) => Promise<unknown>): Promise<PlanNode[]> {
  const sent: Prisma.Sql[] = [];
  const keep =
    <T>(answer: T) =>
    (sql: Prisma.Sql): Promise<T> => {
      sent.push(sql);
      return Promise.resolve(answer);
    };
  await send({ query: keep([]), rows: keep([]), execute: keep(0), models: test.database.models });
  const [sql] = sent;
  if (sql === undefined || sent.length !== 1) throw new Error('it is not one statement');
  const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
  );
  const nodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodes)];
  return (row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => nodes(Plan));
}

const readings = (plan: PlanNode[], table: string): PlanNode[] =>
  plan.filter((node) => node['Relation Name'] === table && node['Node Type'] !== 'ModifyTable');

describe('what a controller asks every second', () => {
  const served = new ServedPoolStore();
  const groups = new FleetGroupStore();
  const pools = Array.from({ length: DEPLOYMENTS }, (_, n) => `pool-${n + 1}`);

  it('reads the workers that live, and none of those that have stopped', async () => {
    const members = Array.from({ length: DEPLOYMENTS }, (_, n) => ({ host: `h-${n}`, pid: null }));
    const plan = await planOf((to) => served.workers(to, pools, members));
    const read = readings(plan, 'workers');
    const indexes = plan.flatMap((node) => node['Index Name'] ?? []);
    expect(indexes.sort()).toEqual(['workers_lost_idx', 'workers_pool_idx']);
    expect(read.map((node) => node['Rows Removed by Filter'] ?? 0)).toEqual([0, 0]);
  });

  it('reads of the workers that are lost those of its members', async () => {
    const members = [
      { host: 'h-1', pid: null },
      { host: 'h-2', pid: 1 },
      { host: 'h-3', pid: 2 },
    ];
    const { database } = test;
    const before = await served.workers(database, pools, []);
    await database.execute(Prisma.sql`
      INSERT INTO workers (id, pool_id, engine, version, host, pid, state, ready_at, last_seen_at, stopped_at)
      SELECT gen_random_uuid(), 'pool-' || n, 'cpu', 't', 'h-' || n, 1, 'stopped', now(), now() - interval '75 s', now()
      FROM generate_series(1, ${DEPLOYMENTS}::int) n`);
    const known = new Set(before.map(({ id }) => id));
    const lost = (await served.workers(database, pools, members)).filter(({ id }) => !known.has(id));
    expect(lost.map(({ host, ready, wasReady }) => [host, ready, wasReady]).sort()).toEqual([
      ['h-1', false, true],
      ['h-2', false, true],
    ]);
    expect(lost[0]?.silentSeconds).toBeGreaterThanOrEqual(75);
  });

  it('looks up what the latest worker of each pool ran at once, however many it had', async () => {
    const plan = await planOf((to) => served.pools(to, []));
    expect(readings(plan, 'workers').map((node) => node['Index Name'])).toEqual(['workers_start_idx']);
  });

  it('reads each deployment once, and once more for the version beside it', async () => {
    const plan = await planOf((to) => served.pools(to, []));
    const read = readings(plan, 'deployments');
    const rows = read.map(
      (node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    );
    expect(rows.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(2 * DEPLOYMENTS);
  });

  it('drains workers and records a pool by their ids', async () => {
    const drain = await planOf((to) => served.drain(to, ['00000000-0000-4000-8000-000000000000'], 'deployments', 1n));
    expect(readings(drain, 'workers').map((node) => node['Index Name'])).toEqual(['workers_pkey']);
    const record = await planOf((to) => groups.record(to, 'pool-1', NEW_GROUP, 'deployments', 1n));
    expect(readings(record, 'fleet_groups')).toEqual([]);
  });
});

describe('with thousands of versions that are gone', () => {
  const GONE = 5_000;
  const FEW = 200;
  const [live, gone, busy, working] = ['pool-live', 'gone-1', 'gone-2', 'version-3'];
  let crowded: TestDatabase;
  beforeAll(async () => {
    crowded = await createTestDatabase(2);
    const { database } = crowded;
    const accountId = await makeAccount(database);
    await database.execute(Prisma.sql`
      INSERT INTO pools (id, engine)
      SELECT kind || '-' || n, 'cpu' FROM unnest(ARRAY['gone', 'version', 'beside']) kind, generate_series(1, ${GONE}::int) n
      UNION ALL VALUES (${live}, 'cpu')`);
    await database.execute(Prisma.sql`
      INSERT INTO deployments (id, account_id, name, pool_id, engine_class, deleted_at)
      SELECT gen_random_uuid(), ${accountId}::uuid, 'd', id, 'cpu', CASE WHEN id <> ${live} THEN now() END FROM pools
      WHERE id LIKE 'gone-%' OR id = ${live}`);
    // Of the live deployment all have ended; of each deleted one the version beside its own never did.
    await database.execute(Prisma.sql`
      INSERT INTO deployment_versions (deployment_id, number, pool_id, min_workers, max_workers, idle_seconds, weight, ended_at)
      SELECT d.id, n + 1, kind || '-' || n, 0, 1, 1, 0, CASE WHEN kind = 'version' THEN now() END
      FROM generate_series(1, ${GONE}::int) n, unnest(ARRAY['version', 'beside']) kind, deployments d
      WHERE d.pool_id = CASE WHEN kind = 'version' THEN ${live} ELSE 'gone-' || n END`);
    await database.execute(Prisma.sql`
      INSERT INTO workers (id, pool_id, engine, version, host, pid, state) VALUES
        (gen_random_uuid(), ${live}, 'cpu', 't', 'h', 1, 'ready'), (gen_random_uuid(), ${gone}, 'cpu', 't', 'h', 1, 'ready')`);
    await database.execute(Prisma.sql`
      INSERT INTO fleet_groups (pool_id, wanted, running, phase)
      SELECT id, 0, 0, CASE WHEN id = ${busy} THEN 'stopping' ELSE 'idle' END FROM pools`);
    await database.execute(Prisma.sql`ANALYZE workers, deployments, deployment_versions, pools, fleet_groups`);
  });
  afterAll(() => crowded.drop());

  it('finds the pools that it looks after, with their workers and groups', async () => {
    const { database } = crowded;
    const pools = (await new ServedPoolStore().pools(database, [gone, working])).map(({ poolId }) => poolId);
    expect(pools).toEqual([busy, live, working]);
    const workers = await new ServedPoolStore().workers(database, pools, []);
    expect(workers.map(({ poolId }) => poolId)).toEqual([live]);
    const groups = await new FleetGroupStore().list(database, pools);
    expect(groups.map(({ poolId }) => poolId).sort()).toEqual(pools);
  });

  it.each(['pools', 'deployments', 'deployment_versions', 'fleet_groups'])(
    'reads none of %s that are gone',
    async (table) => {
      const { rows } = await crowded.database.transaction((tx) =>
        readingRows(tx, table, async () => {
          const pools = (await new ServedPoolStore().pools(tx, [working])).map(({ poolId }) => poolId);
          await new ServedPoolStore().workers(tx, pools, []);
          await new FleetGroupStore().list(tx, pools);
        }),
      );
      expect(rows).toBeLessThan(FEW);
    },
  );
});
