import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, readingRows, type TestDatabase } from '@millrace/testing';
import { DeploymentLifeStore } from './deployment-life.store';
import { WorkerTokenStore } from './tokens/worker-token.store';

const GONE = 5_000;
/** Live ones, and what a plan may read beside them. */
const FEW = 20;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase(2);
});
afterAll(() => test.drop());

it('adds up the workers of an account without reading deployments that were deleted, versions that ended, or workers that stopped', async () => {
  const accountId = await makeAccount(test.database);
  await test.database.execute(Prisma.sql`
    WITH made AS (
      INSERT INTO pools (id, engine)
      SELECT kind || '-' || i, 'cpu' FROM unnest(ARRAY['gone', 'ended']) kind, generate_series(1, ${GONE}::int) i RETURNING id
    )
    INSERT INTO deployments (id, account_id, name, pool_id, max_workers, deleted_at)
    SELECT gen_random_uuid(), ${accountId}::uuid, 'a test', id, 2, CASE WHEN id NOT IN ('gone-7', 'gone-8') THEN now() END
    FROM made WHERE id LIKE 'gone-%'`);
  await test.database.execute(Prisma.sql`
    INSERT INTO deployment_versions (deployment_id, number, pool_id, min_workers, max_workers, idle_seconds, weight, ended_at)
    SELECT d.id, i + 1, 'ended-' || i, 0, 3, 0, 0, now() FROM deployments d, generate_series(1, ${GONE}::int) i WHERE d.pool_id = 'gone-7'`);
  await test.database.execute(Prisma.sql`
    INSERT INTO workers (id, pool_id, engine, version, host, pid, state, stopped_at)
    SELECT gen_random_uuid(), 'ended-' || i, 'cpu', 't', 't', 1, CASE WHEN i = 9 THEN 'ready' ELSE 'stopped' END, CASE WHEN i <> 9 THEN now() END
    FROM generate_series(1, ${GONE}::int) i`);
  await test.database.execute(Prisma.sql`
    INSERT INTO fleet_groups (pool_id, wanted, running, phase)
    SELECT 'ended-' || i, 0, 0, 'idle' FROM generate_series(1, ${GONE}::int) i`);
  await test.database.execute(Prisma.sql`ANALYZE deployments, deployment_versions, workers, fleet_groups`);
  for (const table of ['deployments', 'deployment_versions', 'workers', 'fleet_groups']) {
    const { result, rows } = await test.database.transaction((tx) =>
      readingRows(tx, table, () => new DeploymentLifeStore().use(tx, accountId, null)),
    );
    expect(result).toEqual({ deployments: 2, workers: 5, leaving: 1, present: 0 });
    expect(rows).toBeLessThan(FEW);
  }
});

it('finds room for a worker of a token without reading the workers of other pools, nor those that stopped', async () => {
  const store = new WorkerTokenStore();
  const [poolId, other, tokenId] = [newId(), newId(), newId()];
  for (const id of [poolId, other]) await test.database.models.pool.create({ data: { id, engine: 'cpu' } });
  await store.insert(test.database, { id: tokenId, poolId, name: 'a test', hash: Buffer.alloc(32), expiresAt: null });
  await test.database.execute(Prisma.sql`
    INSERT INTO workers (id, pool_id, engine, version, host, pid, state, stopped_at, token_id)
    SELECT gen_random_uuid(), CASE WHEN i % 2 = 0 THEN ${other} ELSE ${poolId} END, 'cpu', 't', 't', 1,
      CASE WHEN i % 2 = 0 THEN 'ready' ELSE 'stopped' END, CASE WHEN i % 2 = 1 THEN now() END, CASE WHEN i % 2 = 1 THEN ${tokenId}::uuid END FROM generate_series(1, ${GONE}::int) i`);
  await test.database.execute(Prisma.sql`ANALYZE workers`);
  const worker = { poolId, engine: 'cpu', version: 't', host: 't', pid: 1, capacity: 1 } as const;
  const register = (limit: number): Promise<{ result: boolean; rows: number }> =>
    test.database.transaction((tx) =>
      readingRows(tx, 'workers', () => store.register(tx, tokenId, limit, { ...worker, id: newId() })),
    );
  const { result, rows } = await register(1);
  expect(result).toBe(true);
  expect(rows).toBeLessThan(FEW);
  expect((await register(1)).result).toBe(false);
  expect((await register(2)).result).toBe(true);
});
