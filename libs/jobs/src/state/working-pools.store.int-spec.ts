import { Prisma } from '@prisma/client';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { WorkingPoolsStore } from './working-pools.store';

const store = new WorkingPoolsStore();
const IDLE = 3_000;

let test: TestDatabase;
let world: JobWorld;
let busy: string[];
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
  const accountId = await makeAccount(test.database);
  await test.database.execute(Prisma.sql`
    WITH pool AS (
      INSERT INTO pools (id, engine) SELECT 'idle-' || n, 'cpu' FROM generate_series(1, ${IDLE}) n RETURNING id
    )
    INSERT INTO account_queues (pool_id, account_id, running_limit) SELECT id, ${accountId}::uuid, 1 FROM pool`);
  busy = [];
  for (let n = 0; n < 3; n += 1) busy.push((await makePool(test.database)).poolId);
  for (const poolId of busy) await world.queueMany(poolId, await makeAccount(test.database), 2_000);
  // As many accounts with jobs waiting in the first of them.
  await test.database.execute(Prisma.sql`
    INSERT INTO account_turns (pool_id, eligible, pass, account_id)
    SELECT ${busy[0]}, true, n, gen_random_uuid() FROM generate_series(1, ${IDLE}) n`);
  await test.database.execute(Prisma.sql`ANALYZE account_turns`);
  await test.database.execute(Prisma.sql`ANALYZE jobs`);
});
afterAll(() => test.drop());

describe('the pools with work', () => {
  it('are those in which jobs wait, each once', async () => {
    expect(await store.listWaiting(test.database)).toEqual([...busy].sort());
  });

  it('are those of which attempts are in the lane or run', async () => {
    expect(await store.listInFlight(test.database)).toEqual([]);
    const [dispatched = '', running = ''] = busy;
    await world.dispatch(dispatched);
    await world.start({ poolId: running });
    expect(await store.listInFlight(test.database)).toEqual([dispatched, running].sort());
  });

  it.each([
    ['waiting', 'account_turns_pkey', () => store.waitingSql],
    ['in flight', 'jobs_in_flight_idx', () => store.inFlightSql],
  ])('are found by leaps in an index, past all that are idle: %s', async (_which, index, sqlOf) => {
    const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${sqlOf()}`,
    );
    const root = row?.['QUERY PLAN'][0]?.Plan;
    const nodes = root === undefined ? [] : nodesOf(root);
    expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
    const scans = nodes.filter((node) => node['Index Name'] === index);
    expect(scans).toHaveLength(2);
    for (const scan of scans) expect(scan['Actual Rows']).toBeLessThanOrEqual(1);
  });
});
