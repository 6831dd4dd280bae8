import { Prisma } from '@prisma/client';
import type { DispatchMessage } from '@millrace/contracts';
import { PoolStore, WorkerStore } from '@millrace/deployments';
import { LaneConsumer, LaneProducer, RedisConnections } from '@millrace/messaging';
import { createLogger } from '@millrace/platform';
import {
  createTestDatabase,
  eventually,
  makeAccount,
  makePool,
  testRedisUrl,
  type TestDatabase,
} from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { TurnStore } from '../rotation/turn.store';
import { Dispatcher } from './dispatcher';
import { UnclaimedStore } from './unclaimed.store';

/** After so long an attempt is put back once more, in milliseconds. */
const PERIOD_MS = 10_000;
const ROUNDS = 6;

const logger = createLogger('test', 'fatal');

let test: TestDatabase;
let redis: RedisConnections;
let lanes: LaneProducer;
let world: JobWorld;
let dispatcher: Dispatcher;
const consumers: LaneConsumer[] = [];
let periods = 0;
const ends: ((left: boolean) => void)[] = [];
beforeAll(async () => {
  test = await createTestDatabase();
  redis = new RedisConnections(testRedisUrl(), logger);
  lanes = new LaneProducer(redis.producer());
  world = new JobWorld(test);
  const stores = [new TurnStore(), new UnclaimedStore(), new PoolStore(), new WorkerStore()] as const;
  dispatcher = new Dispatcher(test.database, ...stores, lanes, logger, { modelWaitSeconds: 10 });
});
afterEach(async () => {
  for (const end of ends.splice(0)) end(false);
  await Promise.all(consumers.splice(0).map((consumer) => consumer.close()));
});
afterAll(async () => {
  await lanes.close();
  await redis.close();
  await test.drop();
});

/** The message of a job that went to the lane a while ago, and that no worker has claimed. */
async function unclaimed(): Promise<{ poolId: string; message: DispatchMessage }> {
  const { poolId } = await makePool(test.database);
  await world.queueMany(poolId, await makeAccount(test.database), 1);
  const message = await world.dispatch(poolId);
  if (message === null) throw new Error('nothing was dispatched');
  await test.database.execute(
    Prisma.sql`UPDATE jobs SET dispatched_at = now() - interval '1 min' WHERE pool_id = ${poolId}`,
  );
  return { poolId, message };
}

/** A worker that takes one message. @returns what ends it: with the message where it is left to others. */
async function receive(poolId: string): Promise<(left: boolean) => void> {
  let answer: ((left: DispatchMessage | null) => void) | undefined;
  let received: DispatchMessage | undefined;
  const take = (message: DispatchMessage): Promise<DispatchMessage | null> => {
    received = message;
    return new Promise((resolve) => (answer = resolve));
  };
  const leave = (left: DispatchMessage): Promise<void> => dispatcher.leave(poolId, left);
  const consumer = new LaneConsumer(redis.consumer(), poolId, take, leave, () => undefined);
  consumers.push(consumer);
  consumer.setCapacity(1);
  await eventually('the message to be received', () => answer !== undefined);
  consumer.setCapacity(0);
  const end = (left: boolean): void => answer?.(left ? (received ?? null) : null);
  ends.push(end);
  return end;
}

/** Have maintenance put back what is lost, each time in another period. */
async function redeliver(poolId: string): Promise<number> {
  periods += 1;
  const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + periods * PERIOD_MS);
  return dispatcher.redeliver(poolId).finally(() => clock.mockRestore());
}

describe('a message that workers leave to others', () => {
  it('stays one, however often it is left and what is lost is put back', async () => {
    const { poolId, message } = await unclaimed();
    for (let round = 0; round < ROUNDS; round += 1) {
      await dispatcher.leave(poolId, message);
      expect(await redeliver(poolId)).toBe(0);
    }
    expect(await lanes.depth(poolId)).toEqual({ waiting: 1, active: 0 });
  });

  it('becomes one again where it was put back while it rested with the worker that left it', async () => {
    const { poolId, message } = await unclaimed();
    expect(await redeliver(poolId)).toBe(1);
    await dispatcher.leave(poolId, message);
    expect(await lanes.depth(poolId)).toEqual({ waiting: 2, active: 0 });
    const [first, second] = [await receive(poolId), await receive(poolId)];
    first(true);
    second(true);
    await eventually('both to be left', async () => (await lanes.depth(poolId)).active === 0);
    await Promise.all(consumers.splice(0).map((consumer) => consumer.close()));
    expect(await lanes.depth(poolId)).toEqual({ waiting: 1, active: 0 });
  });

  it('is offered once more while a worker sits on it, and not once in each period', async () => {
    const { poolId, message } = await unclaimed();
    await lanes.add(poolId, message);
    await receive(poolId);
    const counts = [await redeliver(poolId), await redeliver(poolId), await redeliver(poolId)];
    expect(counts).toEqual([1, 0, 0]);
    expect(await lanes.depth(poolId)).toEqual({ waiting: 1, active: 1 });
  });

  it('is offered in each period while workers sit on that offer, too', async () => {
    const { poolId, message } = await unclaimed();
    await lanes.add(poolId, message);
    await receive(poolId);
    for (let period = 0; period < 3; period += 1) {
      expect(await redeliver(poolId)).toBe(1);
      await receive(poolId);
    }
  });
});
