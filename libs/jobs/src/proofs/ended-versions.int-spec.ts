import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { PoolStore } from '@millrace/deployments';
import { createTestDatabase, makeAccount, readingRows, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { listStoppedJobs } from '../lifecycle/due-jobs.store';
import { recallFromStopped } from '../lifecycle/release.store';
import { RetiredPoolStore } from '../retired';

/** Of each of two deployments. */
const ENDED = 50_000;
/** What has work or takes it, and what a plan may read beside it. */
const FEW = 100;
const TABLES = ['pools', 'deployments', 'deployment_versions', 'account_queues', 'jobs'];

const [live, stopped, shared] = [newId(), newId(), 'z-shared'];
/** The version that takes jobs, and one that has ended and still has a job. */
const versionsOf = (id: string): [string, string] => [`${id}-v${ENDED + 1}`, `${id}-v7`];
let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
  const world = new JobWorld(test, { priceMicrosPerSecond: 0n, holdMicros: 0n });
  const { database } = test;
  const accountId = await makeAccount(database);
  await database.models.pool.create({ data: { id: shared, engine: 'cpu' } });
  const ids = Prisma.sql`unnest(${[live, stopped]}::uuid[]) id`;
  await database.execute(Prisma.sql`
    INSERT INTO pools (id, engine) SELECT id || '-v' || n, 'cpu' FROM ${ids}, generate_series(1, ${ENDED}::int + 1) n`);
  await database.execute(Prisma.sql`
    INSERT INTO deployments (id, account_id, name, pool_id, desired_state)
    SELECT id, ${accountId}::uuid, 'a test', id || '-v' || ${ENDED}::int + 1, CASE WHEN id = ${stopped}::uuid THEN 'stopped' ELSE 'running' END FROM ${ids}`);
  await database.execute(Prisma.sql`
    INSERT INTO deployment_versions (deployment_id, number, pool_id, min_workers, max_workers, idle_seconds, weight, ended_at)
    SELECT id, n, id || '-v' || n, 0, 1, 0, 0, now() FROM ${ids}, generate_series(1, ${ENDED}::int) n`);
  await database.execute(Prisma.sql`
    INSERT INTO account_queues (pool_id, account_id, running_limit)
    SELECT id || '-v' || n, ${accountId}::uuid, 1 FROM ${ids}, generate_series(1, ${ENDED}::int, 50) n`);
  for (const id of [live, stopped]) await world.submit({ accountId, poolId: versionsOf(id)[1] });
  await world.dispatch(versionsOf(stopped)[1]);
  await database.execute(Prisma.sql`
    ANALYZE pools, deployments, deployment_versions, account_queues, account_turns, jobs`);
});
afterAll(() => test.drop());

describe.each(TABLES)('of a hundred thousand versions that have ended, in %s, nothing is read', (table) => {
  const reading = async <T>(run: (tx: Statements) => Promise<T>): Promise<T> => {
    const { result, rows } = await test.database.transaction((tx) => readingRows(tx, table, () => run(tx)));
    expect(rows).toBeLessThan(FEW);
    return result;
  };

  it('by who looks for jobs that can run elsewhere', async () => {
    const store = new RetiredPoolStore(0n);
    const [ofLive, ofStopped] = [live, stopped].map((id) => {
      const [toPoolId, poolId] = versionsOf(id);
      return { poolId, toPoolId };
    });
    const all = await reading((tx) => store.list(tx, 10, null));
    expect(all).toHaveLength(2);
    expect(all).toEqual(expect.arrayContaining([ofLive, ofStopped]));
    expect(await reading((tx) => store.list(tx, 10, live))).toEqual([ofLive]);
  });

  it('by who looks for jobs of stopped deployments', async () => {
    expect(await reading((tx) => listStoppedJobs(tx, null, 10))).toHaveLength(1);
    const rollBack = new Error('as it was');
    const recalled: number[] = [];
    const recall = test.database.transaction(async (tx) => {
      const { result, rows } = await readingRows(tx, table, () => recallFromStopped(tx));
      expect(rows).toBeLessThan(FEW);
      recalled.push(result);
      throw rollBack;
    });
    await expect(recall).rejects.toBe(rollBack);
    expect(recalled).toEqual([1]);
  });

  it('by who lists the pools, in which shared ones come first, and those that have ended stand while they have jobs', async () => {
    const working = [versionsOf(live)[1], versionsOf(stopped)[1], shared];
    const pools = await reading((tx) => new PoolStore().list(tx, working));
    const listed = pools.map(({ id, deploymentId }) => [id, deploymentId]);
    const ofDeployments = [live, stopped].flatMap((id) => versionsOf(id).map((pool) => [pool, id]));
    expect(listed.filter(([, id]) => id === null)).toContainEqual([shared, null]);
    expect(listed.slice(-4)).toEqual(expect.arrayContaining(ofDeployments));
    expect(listed.filter(([, id]) => id !== null)).toHaveLength(4);
  });
});
