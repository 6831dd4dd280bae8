import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, makePool, readingRows, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { QueueDepthStore } from './queue-depth.store';

const store = new QueueDepthStore();
const GONE = 5_000;
/** Those that are measured, and what a plan may read beside them. */
const FEW = 100;

let test: TestDatabase;
let shared: string;
const live = newId();
const kept = newId();
beforeAll(async () => {
  test = await createTestDatabase(2);
  const { database } = test;
  const accountId = await makeAccount(database);
  ({ poolId: shared } = await makePool(database));
  await database.execute(Prisma.sql`
    WITH deployment AS (
      SELECT id, CASE WHEN id <> ${live}::uuid THEN now() END AS deleted_at
      FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, ${GONE}::int) UNION ALL VALUES (${live}::uuid), (${kept}::uuid)) made
    ), pool AS (
      INSERT INTO pools (id, engine) SELECT id::text, 'cpu' FROM deployment
      UNION ALL SELECT ${live}::text || '-v' || n, 'cpu' FROM generate_series(2, ${GONE}::int) n
      UNION ALL SELECT id || '-v2', 'cpu' FROM deployment WHERE deleted_at IS NOT NULL
    ), made AS (
      INSERT INTO deployments (id, account_id, name, pool_id, deleted_at)
      SELECT id, ${accountId}::uuid, 'a test', id::text, deleted_at FROM deployment
    )
    INSERT INTO deployment_versions (deployment_id, number, pool_id, min_workers, max_workers, idle_seconds, weight, ended_at)
    SELECT ${live}::uuid, n, ${live}::text || '-v' || n, 0, 1, 1, 0, CASE WHEN n < ${GONE}::int THEN now() END FROM generate_series(2, ${GONE}::int) n
    UNION ALL SELECT id, 2, id || '-v2', 0, 1, 1, 0, NULL FROM deployment WHERE deleted_at IS NOT NULL`);
  const world = new JobWorld(test, { priceMicrosPerSecond: 0n, holdMicros: 0n });
  await world.submit({ accountId, poolId: kept });
  await database.execute(Prisma.sql`ANALYZE pools, deployments, deployment_versions, account_turns, jobs`);
});
afterAll(() => test.drop());

describe('the measure of all pools', () => {
  it('has shared ones, those of live versions, and those that are gone and have jobs, each once', async () => {
    const depths = await store.measure(test.database);
    const waiting = Object.fromEntries(depths.map((depth) => [depth.poolId, depth.waiting]));
    expect(depths).toHaveLength(4);
    expect(waiting).toEqual({ [shared]: 0, [live]: 0, [`${live}-v${GONE}`]: 0, [kept]: 1 });
  });

  it.each(['pools', 'deployments', 'deployment_versions'])('does not read those of %s that are gone', async (table) => {
    const { rows } = await test.database.transaction((tx) => readingRows(tx, table, () => store.measure(tx)));
    expect(rows).toBeLessThan(FEW);
  });
});
