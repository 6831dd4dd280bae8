import type { DispatchMessage } from '@millrace/contracts';
import { PoolStore } from '@millrace/deployments';
import { LaneConsumer, LaneProducer, RedisConnections } from '@millrace/messaging';
import { createLogger } from '@millrace/platform';
import { createTestDatabase, eventually, testRedisUrl, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { endJob } from '../lifecycle/end.store';
import { deadlinePassed } from '../lifecycle/job-ending';
import { LaneAudit } from './lane-audit';

let test: TestDatabase;
let redis: RedisConnections;
let lanes: LaneProducer;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  redis = new RedisConnections(testRedisUrl(), createLogger('test', 'fatal'));
  lanes = new LaneProducer(redis.producer());
  world = new JobWorld(test);
});
afterAll(async () => {
  await lanes.close();
  await redis.close();
  await test.drop();
});

const CHECK = 'no-message-of-an-ended-job';
async function findings(): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const finding of new LaneAudit(test.database, new PoolStore(), lanes).findings()) found.push(finding);
  return found;
}

it('finds the messages of jobs that have ended, waiting and taken, and no others', async () => {
  const { poolId } = await world.submit();
  const message = await world.dispatch(poolId);
  if (message === null) throw new Error('nothing was dispatched');
  const { jobId, attempt }: DispatchMessage = message;
  await lanes.add(poolId, { jobId, attempt });
  expect(await findings()).toEqual([]);
  await world.passDeadline(jobId);
  await endJob(test.database, { kind: 'overdue', jobId }, deadlinePassed);
  const said = (place: string): object => ({
    check: CHECK,
    subject: jobId,
    detail: `the message of attempt 1 ${place} pool ${poolId}, and the job has ended`,
  });
  expect(await findings()).toEqual([said('waits in the lane of')]);
  let release: (() => void) | undefined;
  const take = (): Promise<null> => new Promise((resolve) => (release = () => resolve(null)));
  const consumer = new LaneConsumer(
    redis.consumer(),
    poolId,
    take,
    () => Promise.resolve(),
    () => undefined,
  );
  consumer.setCapacity(1);
  await eventually('the message to be taken', () => release !== undefined);
  expect(await findings()).toEqual([said('was taken by a worker of')]);
  release?.();
  await eventually('the message to be gone', async () => (await findings()).length === 0);
  await consumer.close();
});
