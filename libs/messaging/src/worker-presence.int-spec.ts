import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { createLogger } from '@millrace/platform';
import { eventually, testRedisUrl } from '@millrace/testing';
import { RedisConnections } from './redis';
import { GoneWorkers, announceWorker } from './worker-presence';

const open = (): RedisConnections => new RedisConnections(testRedisUrl(), createLogger('worker', 'silent'));
const connections = open();
const redis = connections.producer();
beforeAll(() => new Promise((resolve) => redis.once('ready', resolve)));

const opened: RedisConnections[] = [connections];
const stops: (() => void)[] = [];
afterAll(async () => {
  stops.forEach((stop) => stop());
  await Promise.all(opened.map((each) => each.close()));
});

let nowMs = 0;
/** What asks has been connected for so long. */
function asking(connectedForMs = 5_000): GoneWorkers {
  nowMs = 0;
  const gone = new GoneWorkers(redis, () => nowMs);
  nowMs = connectedForMs;
  return gone;
}

/** A worker that has announced itself. */
async function worker(): Promise<{ id: string; connections: RedisConnections; subscriber: Redis }> {
  const id = randomUUID();
  const own = open();
  opened.push(own);
  const subscriber = own.subscriber();
  stops.push(announceWorker(subscriber, own.producer(), id));
  await eventually(
    'the worker to announce itself',
    async () => (await redis.exists(`millrace:worker-mark:${id}`)) === 1,
  );
  return { id, connections: own, subscriber };
}

it('finds workers gone whose connections have closed, and no other', async () => {
  const [dead, alive] = [await worker(), await worker()];
  await dead.connections.close();
  const found = (): Promise<string[]> => asking().among([alive.id, dead.id]);
  await eventually('the worker to be gone', async () => (await found()).length > 0);
  expect(await found()).toEqual([dead.id]);
});

it('finds no worker gone that never announced itself: one behind a gateway, or of an earlier version', async () => {
  expect(await asking().among([randomUUID()])).toEqual([]);
});

it('finds a worker there again that comes back after its connection broke', async () => {
  const { id, subscriber } = await worker();
  await redis.del(`millrace:worker-mark:${id}`);
  subscriber.disconnect(true);
  await eventually('the worker to be back', async () => (await redis.exists(`millrace:worker-mark:${id}`)) === 1);
  expect(await asking().among([id])).toEqual([]);
});

it('judges nobody for five seconds after Redis came back, when workers are coming back as well', async () => {
  const { id, connections: own } = await worker();
  await own.close();
  await eventually('the worker to be gone', async () => (await asking().among([id])).length > 0);
  expect(await asking(4_999).among([id])).toEqual([]);
});

it('judges nobody while Redis is away', async () => {
  const away = new RedisConnections('redis://127.0.0.1:1', createLogger('maintenance', 'silent'));
  opened.push(away);
  expect(await new GoneWorkers(away.producer(), () => nowMs).among([randomUUID()])).toEqual([]);
});

it('takes no worker for gone whose subscription is with another server, as after a failover, and has it connect again', async () => {
  const { id, subscriber: own } = await worker();
  own.disconnect();
  const disconnect = jest.fn();
  const elsewhere = Object.assign(new EventEmitter(), { status: 'ready', subscribe: async () => 1, disconnect });
  stops.push(announceWorker(elsewhere as unknown as Redis, redis, id));
  await eventually('the worker to connect again', () => disconnect.mock.calls.length > 0);
  expect(disconnect).toHaveBeenCalledWith(true);
  expect(await asking().among([id])).toEqual([]);
});

it('lets the mark of a worker expire', async () => {
  const { id } = await worker();
  const left = await redis.ttl(`millrace:worker-mark:${id}`);
  expect(left).toBeGreaterThan(90);
  expect(left).toBeLessThanOrEqual(120);
});
