import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { DispatchMessage } from '@millrace/contracts';
import { createLogger } from '@millrace/platform';
import { eventually, testRedisUrl } from '@millrace/testing';
import { KeptLanes } from './kept-lanes';
import { LaneConsumer, LaneProducer } from './lanes';
import { RedisConnections } from './redis';

const JOBS = 50;

const connections = new RedisConnections(testRedisUrl(), createLogger('test', 'silent'));
const redis: Redis = connections.producer();
const producer = new LaneProducer(redis);
const kept = new KeptLanes(redis);
const consumers: LaneConsumer[] = [];
beforeAll(async () => {
  if (redis.status !== 'ready') await new Promise((resolve) => redis.once('ready', resolve));
});
const closeConsumers = (): Promise<unknown> => Promise.all(consumers.splice(0).map((consumer) => consumer.close()));
afterEach(closeConsumers);
afterAll(async () => {
  await producer.close();
  await connections.close();
});

const newMessage = (): DispatchMessage => ({ jobId: randomUUID(), attempt: 1 });
const keysOf = (poolId: string): Promise<string[]> => redis.keys(`{millrace:${poolId}}*`);
const eventsOf = (poolId: string): Promise<number> => redis.xlen(`{millrace:${poolId}}:lane:events`);

/** A worker of a pool that takes ten messages at once. */
function consumerOf(poolId: string, take: () => Promise<null>): void {
  const connection = connections.consumer();
  const left = (): Promise<void> => Promise.resolve();
  const consumer = new LaneConsumer(connection, poolId, take, left, () => undefined);
  consumers.push(consumer);
  consumer.setCapacity(10);
}

/** A lane as a version left it that kept events: some of them, and by its settings many more. */
async function makeOldLane(poolId: string): Promise<void> {
  const queue = new Queue('lane', { connection: redis, prefix: `{millrace:${poolId}}` });
  for (let job = 0; job < JOBS; job += 1) await queue.add('attempt', newMessage(), { jobId: `${randomUUID()}.1` });
  await queue.close();
  expect(await eventsOf(poolId)).toBeGreaterThanOrEqual(2 * JOBS);
}

/** Every pool with a lane. */
async function allPools(): Promise<string[]> {
  const found: string[] = [];
  let from: string | null = null;
  do {
    const page = await kept.page(from);
    found.push(...page.poolIds);
    from = page.next;
  } while (from !== null);
  return found;
}

it('a lane keeps no events of what went through it: nothing reads them', async () => {
  const poolId = randomUUID();
  let taken = 0;
  for (let job = 0; job < JOBS; job += 1) await producer.add(poolId, newMessage());
  consumerOf(poolId, () => Promise.resolve(((taken += 1), null)));
  await eventually('all to be done', async () => taken === JOBS && (await producer.depth(poolId)).active === 0);
  expect(await eventsOf(poolId)).toBeLessThanOrEqual(5);
});

it('a lane that kept events loses them, and what is in it stays', async () => {
  const poolId = randomUUID();
  await makeOldLane(poolId);
  expect(await allPools()).toContain(poolId);
  await kept.shorten(poolId);
  expect(await eventsOf(poolId)).toBe(0);
  await producer.add(poolId, newMessage());
  expect(await eventsOf(poolId)).toBeLessThanOrEqual(5);
  expect(await producer.depth(poolId)).toEqual({ waiting: JOBS + 1, active: 0 });
});

describe('a lane that is removed', () => {
  it('leaves nothing in Redis, and is made again by the next message', async () => {
    const [poolId, message] = [randomUUID(), newMessage()];
    await makeOldLane(poolId);
    await producer.add(poolId, message);
    expect(await kept.remove(poolId)).toBe(true);
    expect(await keysOf(poolId)).toEqual([]);
    expect(await allPools()).not.toContain(poolId);
    await producer.add(poolId, message);
    expect(await producer.states(poolId, [message])).toEqual(['waiting']);
    let taken = 0;
    consumerOf(poolId, () => Promise.resolve(((taken += 1), null)));
    await eventually('it to be taken', () => taken === 1);
  });

  it('stays while a worker holds a message of it', async () => {
    const [poolId, message] = [randomUUID(), newMessage()];
    await producer.add(poolId, message);
    let end: (() => void) | null = null;
    consumerOf(poolId, () => new Promise((resolve) => (end = () => resolve(null))));
    await eventually('the message to be taken', () => end !== null);
    expect(await kept.remove(poolId)).toBe(false);
    expect(await producer.states(poolId, [message])).toEqual(['taken']);
    end!();
    await eventually('it to be done', async () => (await producer.states(poolId, [message]))[0] === 'absent');
    await closeConsumers();
    await eventually('the lane to go', () => kept.remove(poolId));
    expect(await keysOf(poolId)).toEqual([]);
  });

  it('takes along what a worker held that died', async () => {
    const poolId = randomUUID();
    await producer.add(poolId, newMessage());
    let end: (() => void) | null = null;
    consumerOf(poolId, () => new Promise((resolve) => (end = () => resolve(null))));
    await eventually('the message to be taken', () => end !== null);
    // Its lock runs out.
    await redis.del(await redis.keys(`{millrace:${poolId}}:lane:*:lock`));
    expect(await kept.remove(poolId)).toBe(true);
    expect(await keysOf(poolId)).toEqual([]);
    end!();
  });
});
