import { randomUUID } from 'node:crypto';
import { newId } from '@millrace/contracts';
import { KeptLanes, LaneProducer, RedisConnections } from '@millrace/messaging';
import { createLogger } from '@millrace/platform';
import { createTestDatabase, makeAccount, makePool, testRedisUrl, type TestDatabase } from '@millrace/testing';
import { GonePoolStore } from '../objectives';
import { SweepLanesLoop } from './sweep-lanes.loop';

const LONG_AGO = new Date(Date.now() - 3_600_000);

let test: TestDatabase;
let redis: RedisConnections;
let lanes: LaneProducer;
let loop: SweepLanesLoop;
beforeAll(async () => {
  test = await createTestDatabase();
  redis = new RedisConnections(testRedisUrl(), createLogger('test', 'fatal'));
  const connection = redis.producer();
  if (connection.status !== 'ready') await new Promise((resolve) => connection.once('ready', resolve));
  lanes = new LaneProducer(connection);
  loop = new SweepLanesLoop(test.database, new GonePoolStore(), new KeptLanes(connection));
});
afterAll(async () => {
  await lanes.close();
  await redis.close();
  await test.drop();
});

const keysOf = (poolId: string): Promise<string[]> => redis.producer().keys(`{millrace:${poolId}}*`);

/** A pool with a message in its lane. */
async function makeLane(): Promise<string> {
  const { poolId } = await makePool(test.database);
  await lanes.add(poolId, { jobId: randomUUID(), attempt: 1 });
  return poolId;
}

it('nothing is left in Redis of the lane of a version that has ended, and other lanes stay', async () => {
  const [present, ended, justEnded, shared] = [await makeLane(), await makeLane(), await makeLane(), await makeLane()];
  const accountId = await makeAccount(test.database);
  const deployment = { id: newId(), accountId, name: 'a test', poolId: present };
  await test.database.models.deployment.create({ data: deployment });
  const terms = { deploymentId: deployment.id, minWorkers: 0, maxWorkers: 1, idleSeconds: 60, weight: 0 };
  await test.database.models.deploymentVersion.createMany({
    data: [
      { ...terms, number: 2, poolId: ended, endedAt: LONG_AGO },
      { ...terms, number: 3, poolId: justEnded, endedAt: new Date() },
    ],
  });
  const events = `{millrace:${shared}}:lane:events`;
  await redis.producer().xadd(events, '*', 'event', 'waiting');
  await loop.runOnce();
  expect(await keysOf(ended)).toEqual([]);
  for (const poolId of [present, justEnded, shared]) {
    expect(await lanes.depth(poolId)).toEqual({ waiting: 1, active: 0 });
  }
  expect(await redis.producer().xlen(events)).toBe(0);
});

it('a lane that cannot be swept keeps no other from it', async () => {
  const [broken, sound] = [await makeLane(), await makeLane()];
  const swept: string[] = [];
  const kept = new KeptLanes(redis.producer());
  jest.spyOn(kept, 'shorten').mockImplementation((poolId) => {
    swept.push(poolId);
    return poolId === broken ? Promise.reject(new Error('a test')) : Promise.resolve();
  });
  const failed: string[] = [];
  const report = { failed: (item: string) => void failed.push(item), resting: () => undefined };
  expect(await new SweepLanesLoop(test.database, new GonePoolStore(), kept).runOnce(report)).toBe(0);
  expect(failed).toEqual([broken]);
  expect(swept).toEqual(expect.arrayContaining([broken, sound]));
});
