import { newId } from '@millrace/contracts';
import { Metrics, createLogger } from '@millrace/platform';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { ForgetGonePools } from './forget-gone-pools';
import { GonePoolStore } from './gone-pools.store';

const LONG_AGO = new Date(Date.now() - 3_600_000);
const logger = createLogger('test', 'silent');
let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test, { priceMicrosPerSecond: 0n, holdMicros: 0n });
});
afterAll(() => test.drop());

interface Place {
  accountId: string;
  deploymentId: string;
  poolId: string;
}

async function makeDeployment(deletedAt: Date | null = null): Promise<Place> {
  const accountId = await makeAccount(test.database);
  const { poolId } = await makePool(test.database);
  const data = { id: newId(), accountId, name: 'a test', poolId, deletedAt };
  await test.database.models.deployment.create({ data });
  return { accountId, deploymentId: data.id, poolId };
}

/** Count something of a pool in each way in which processes do. */
function count(metrics: Metrics, pool: string): void {
  metrics.showPool(pool);
  metrics.startDelaySeconds.observe({ pool }, 1);
  metrics.jobsReused.inc({ pool });
  metrics.jobRetries.inc({ pool });
  metrics.engineSeconds.inc({ pool }, 2);
  metrics.remoteWorkers.set({ pool }, 1);
  metrics.queueDepth.set({ pool, delivery: 'waiting' }, 1);
}

const textOf = (metrics: Metrics): Promise<string> => metrics.registry.metrics();

describe('what a process has counted of a pool', () => {
  it('is dropped from all metrics once its deployment is gone for a while, and of no other pool', async () => {
    const [gone, recent, living] = [
      await makeDeployment(LONG_AGO),
      await makeDeployment(new Date()),
      await makeDeployment(),
    ];
    const { poolId: shared } = await makePool(test.database);
    const metrics = new Metrics('api');
    const kept = [recent.poolId, living.poolId, shared];
    for (const pool of [gone.poolId, ...kept]) count(metrics, pool);
    const before = (await textOf(metrics)).split('\n').filter((line) => line.includes(living.poolId));
    const forgetting = new ForgetGonePools(test.database, new GonePoolStore(), metrics, logger, 3_600_000);
    await forgetting.runOnce();
    await forgetting.stop();
    const text = await textOf(metrics);
    expect(text).not.toContain(gone.poolId);
    for (const pool of kept) expect(text).toContain(pool);
    expect(text.split('\n').filter((line) => line.includes(living.poolId))).toEqual(before);
  });

  it('is dropped with its version, while its deployment goes on with others', async () => {
    const { deploymentId, poolId } = await makeDeployment();
    const pools = [await makePool(test.database), await makePool(test.database)].map((pool) => pool.poolId);
    const [ended = '', present = ''] = pools;
    const terms = { deploymentId, minWorkers: 0, maxWorkers: 1, idleSeconds: 60, weight: 10 };
    await test.database.models.deploymentVersion.createMany({
      data: [
        { ...terms, number: 2, poolId: ended, weight: 0, endedAt: LONG_AGO },
        { ...terms, number: 3, poolId: present },
      ],
    });
    expect(await new GonePoolStore().find(test.database, [poolId, ...pools], 60)).toEqual([ended]);
  });

  it('stays while jobs of the pool wait or run', async () => {
    const place = await makeDeployment();
    await world.submit({ ...place, surface: 'deployment' });
    // Nothing else deletes it while it has a job.
    await test.database.models.deployment.update({ where: { id: place.deploymentId }, data: { deletedAt: LONG_AGO } });
    expect(await new GonePoolStore().find(test.database, [place.poolId], 60)).toEqual([]);
    await world.end(await world.start(place));
    expect(await new GonePoolStore().find(test.database, [place.poolId], 60)).toEqual([place.poolId]);
  });

  it('is looked for by the clock, also after a look that failed', async () => {
    const { poolId } = await makeDeployment(LONG_AGO);
    const metrics = new Metrics('gateway');
    count(metrics, poolId);
    const store = new GonePoolStore();
    let looks = 0;
    const find = (...args: Parameters<GonePoolStore['find']>): Promise<string[]> =>
      (looks += 1) === 1 ? Promise.reject(new Error('the database is away')) : store.find(...args);
    const forgetting = new ForgetGonePools(test.database, { find }, metrics, logger, 5);
    await eventually('it is dropped', async () => !(await textOf(metrics)).includes(poolId));
    await forgetting.stop();
    expect(looks).toBeGreaterThanOrEqual(2);
  });
});
