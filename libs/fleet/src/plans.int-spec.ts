import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { FleetGroupStore } from './fleet-group.store';
import { NEW_GROUP } from './plan';
import { ServedPoolStore } from './served-pool.store';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Rows Removed by Filter'?: number;
  'Actual Loops'?: number;
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

  it('reads the workers that live, and none of those that have stopped', async () => {
    const plan = await planOf((to) => served.workers(to));
    const [reading] = readings(plan, 'workers');
    const indexes = plan.flatMap((node) => node['Index Name'] ?? []);
    expect(indexes).toContain('workers_pool_idx');
    expect(reading?.['Rows Removed by Filter'] ?? 0).toBe(0);
  });

  it('reads deployments once, and once more for the versions beside them, without a loop over either', async () => {
    const plan = await planOf((to) => served.pools(to));
    const read = readings(plan, 'deployments');
    expect(read).toHaveLength(2);
    for (const { 'Actual Loops': loops } of read) expect(loops).toBeLessThanOrEqual(1);
    expect(plan.map((node) => node['Node Type'])).not.toContain('Nested Loop');
  });

  it('drains workers and records a pool by their ids', async () => {
    const drain = await planOf((to) => served.drain(to, ['00000000-0000-4000-8000-000000000000'], 'deployments', 1n));
    expect(readings(drain, 'workers').map((node) => node['Index Name'])).toEqual(['workers_pkey']);
    const record = await planOf((to) => groups.record(to, 'pool-1', NEW_GROUP, 'deployments', 1n));
    expect(readings(record, 'fleet_groups')).toEqual([]);
  });
});
