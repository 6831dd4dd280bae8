import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { DispatchMessage } from '@millrace/contracts';
import { createLogger } from '@millrace/platform';
import { FaultProxy, eventually, testRedisUrl } from '@millrace/testing';
import { LaneConsumer, LaneProducer } from './lanes';
import { RedisConnections } from './redis';

const consumers: LaneConsumer[] = [];
let proxy: FaultProxy;
let connections: RedisConnections;
let redis: Redis;
let producer: LaneProducer;

/** Connections to a Redis that is away until `comeBack`. */
beforeEach(async () => {
  const url = new URL(testRedisUrl());
  proxy = await FaultProxy.start({ host: url.hostname, port: Number(url.port) });
  proxy.behave({ kind: 'down' });
  url.port = String(proxy.port);
  connections = new RedisConnections(url.href, createLogger('test', 'silent'));
  redis = connections.producer();
  producer = new LaneProducer(redis);
});
afterEach(async () => {
  await Promise.all(consumers.splice(0).map((consumer) => consumer.close()));
  await producer.close();
  await connections.close();
  await proxy.close();
});

const next = (event: 'ready' | 'close'): Promise<unknown> => new Promise((resolve) => redis.once(event, resolve));

async function comeBack(): Promise<void> {
  const ready = next('ready');
  proxy.behave({ kind: 'open' });
  await ready;
}

const newMessage = (): DispatchMessage => ({ jobId: randomUUID(), attempt: 1 });

describe('a producer whose Redis was away when a pool was first asked for', () => {
  const calls: Record<string, (poolId: string, message: DispatchMessage) => Promise<unknown>> = {
    add: (poolId, message) => producer.add(poolId, message),
    addAll: (poolId, message) => producer.addAll(poolId, [message]),
    addAgain: (poolId, message) => producer.addAgain(poolId, message, 'p1'),
    addLeft: (poolId, message) => producer.addLeft(poolId, message),
    states: (poolId, message) => producer.states(poolId, [message]),
    list: (poolId) => producer.list(poolId, 'waiting', 0, 1),
    depth: (poolId) => producer.depth(poolId),
  };

  it.each(Object.keys(calls))('fails at once in %s, and does it once Redis is there', async (name) => {
    const call = calls[name] as (typeof calls)[string];
    const [poolId, message] = [randomUUID(), newMessage()];
    await expect(call(poolId, message)).rejects.toThrow();
    await comeBack();
    await expect(call(poolId, message)).resolves.not.toThrow();
    await producer.add(poolId, message);
    expect(await producer.states(poolId, [message])).toEqual(['waiting']);
  });

  it('keeps nothing of the calls that failed', async () => {
    const [listeners, poolId] = [redis.listenerCount('ready'), randomUUID()];
    for (let call = 0; call < 5; call += 1) await expect(producer.add(poolId, newMessage())).rejects.toThrow();
    await eventually('what failed to be closed', () => redis.listenerCount('ready') === listeners);
    await comeBack();
    await producer.add(poolId, newMessage());
    expect(redis.status).toBe('ready');
  });

  it('adds again after Redis was away for a while', async () => {
    await comeBack();
    const [poolId, lost, kept] = [randomUUID(), newMessage(), newMessage()];
    await producer.add(poolId, newMessage());
    const closed = next('close');
    proxy.behave({ kind: 'down' });
    await closed;
    await expect(producer.add(poolId, lost)).rejects.toThrow();
    await comeBack();
    await producer.add(poolId, kept);
    expect(await producer.states(poolId, [lost, kept])).toEqual(['absent', 'waiting']);
  });
});

it('a producer keeps what it needs for a limited number of pools, and what it gives up meanwhile is done', async () => {
  await comeBack();
  const listeners = redis.listenerCount('ready');
  const few = new LaneProducer(redis, 2);
  const pools = Array.from({ length: 20 }, () => ({ poolId: randomUUID(), message: newMessage() }));
  await Promise.all(pools.map(({ poolId, message }) => few.add(poolId, message)));
  await eventually('two to be left', () => redis.listenerCount('ready') <= listeners + 2);
  for (const { poolId, message } of pools) expect(await few.states(poolId, [message])).toEqual(['waiting']);
  await few.close();
  expect(redis.listenerCount('ready')).toBe(listeners);
});

/** A consumer with room for one message. */
function consumerOf(poolId: string, take: (message: DispatchMessage) => Promise<null>): LaneConsumer {
  const consumer = new LaneConsumer(
    connections.consumer(),
    poolId,
    take,
    () => Promise.resolve(),
    () => undefined,
  );
  consumers.push(consumer);
  consumer.setCapacity(1);
  return consumer;
}

it('a consumer that began while Redis was away takes messages once it is there', async () => {
  const [poolId, message] = [randomUUID(), newMessage()];
  const taken: DispatchMessage[] = [];
  consumerOf(poolId, (received) => {
    taken.push(received);
    return Promise.resolve(null);
  });
  await expect(producer.add(poolId, message)).rejects.toThrow();
  await comeBack();
  await producer.add(poolId, message);
  await eventually('the message to be taken', () => taken.length > 0);
  expect(taken).toEqual([message]);
});

it('a consumer that stops while Redis is away has stopped once its last message is done', async () => {
  const poolId = randomUUID();
  await comeBack();
  let done: (() => void) | null = null;
  const consumer = consumerOf(poolId, () => new Promise((resolve) => (done = () => resolve(null))));
  await producer.add(poolId, newMessage());
  await eventually('the message to be taken', () => done !== null);
  proxy.behave({ kind: 'down' });
  let isOver = false;
  const stopped = consumer
    .drain()
    .then(() => consumer.close())
    .then(() => (isOver = true));
  await eventually('the connection to be gone', () => redis.status !== 'ready');
  expect(isOver).toBe(false);
  done!();
  await stopped;
  await comeBack();
});
