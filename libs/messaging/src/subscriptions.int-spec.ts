import { randomUUID } from 'node:crypto';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Redis } from 'ioredis';
import type { ControlMessage } from '@millrace/contracts';
import { createLogger } from '@millrace/platform';
import { eventually, testRedisUrl } from '@millrace/testing';
import { listenForControl, sendControl } from './control';
import { LivePublisher, LiveSubscriber, type ReceivedEvent } from './live-events';
import { RedisConnections } from './redis';

const publishing = new RedisConnections(testRedisUrl(), createLogger('test', 'silent'));
const producer = publishing.producer();
beforeAll(() => new Promise((resolve) => producer.once('ready', resolve)));
afterAll(() => publishing.close());

const sockets = new Set<Socket>();
let turnsAway = true;
/** Stands in front of the Redis of the tests, and at first answers as one does whose passwords are being changed. */
const gate = createServer((client) => {
  sockets.add(client);
  client.on('error', () => undefined);
  client.on('close', () => sockets.delete(client));
  if (turnsAway) {
    client.on('data', (bytes) => {
      for (const _command of bytes.toString().matchAll(/\*\d+\r\n\$/g)) client.write('-WRONGPASS invalid password\r\n');
    });
    return;
  }
  const { hostname, port } = new URL(testRedisUrl());
  const server = connect(Number(port), hostname);
  server.on('error', () => undefined);
  client.on('close', () => server.destroy());
  client.pipe(server).pipe(client);
});
beforeAll(() => new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => gate.close(resolve)));

let connections: RedisConnections;
let subscriber: Redis;
beforeEach(() => {
  turnsAway = true;
  const url = new URL(testRedisUrl());
  url.port = String((gate.address() as AddressInfo).port);
  connections = new RedisConnections(url.href, createLogger('test', 'silent'));
  subscriber = connections.subscriber();
});
afterEach(() => connections.close());

const next = (event: 'ready' | 'error'): Promise<unknown> => new Promise((resolve) => subscriber.once(event, resolve));

/** Let the connection in that was turned away, or end the one that stands, until it is ready. */
async function comeIn(): Promise<void> {
  const ready = next('ready');
  turnsAway = false;
  for (const socket of sockets) socket.destroy();
  await ready;
}

it('a listener for control messages that was turned away receives them once it is let in, and after a break', async () => {
  const [poolId, received] = [randomUUID(), [] as ControlMessage[]];
  const turnedAway = next('error');
  listenForControl(subscriber, poolId, (message) => received.push(message));
  await turnedAway;
  const receives = async (): Promise<void> => {
    const jobId = randomUUID();
    await eventually('the message to be received', async () => {
      await sendControl(producer, poolId, { kind: 'cancel', jobId });
      return received.some((message) => message.kind === 'cancel' && message.jobId === jobId);
    });
  };
  await comeIn();
  await receives();
  await comeIn();
  await receives();
});

it('a listener for the events of a job that was turned away gets them once it is let in, and after a break', async () => {
  const [jobId, received] = [randomUUID(), [] as ReceivedEvent[]];
  const [live, publisher] = [new LiveSubscriber(subscriber), new LivePublisher(producer)];
  const turnedAway = next('error');
  const { stop } = live.subscribe(jobId, (event) => received.push(event));
  await turnedAway;
  const gets = async (): Promise<void> => {
    received.length = 0;
    await eventually('the event to arrive', async () => {
      await publisher.publish(jobId, { kind: 'status', seq: 1 });
      return received.some(({ kind }) => kind === 'status');
    });
  };
  await comeIn();
  await gets();
  await comeIn();
  await gets();
  stop();
  await comeIn();
  const count = async (): Promise<number> => Number((await producer.pubsub('NUMSUB', `millrace:job:${jobId}`))[1]);
  await eventually('nobody to be subscribed', async () => (await count()) === 0);
});

describe('while Redis is away', () => {
  /** Commands that wait in memory for Redis: that were not sent, and that have no answer. */
  const waiting = (redis: Redis): number => {
    const { offlineQueue, commandQueue } = redis as unknown as Record<'offlineQueue' | 'commandQueue', unknown[]>;
    return offlineQueue.length + commandQueue.length;
  };

  it('listeners that come and go leave nothing in memory', async () => {
    const turnedAway = next('error');
    const live = new LiveSubscriber(subscriber);
    await turnedAway;
    for (let count = 0; count < 1_000; count += 1) live.subscribe(randomUUID(), () => undefined).stop();
    // Its own commands of a connection that is being made.
    expect(waiting(subscriber)).toBeLessThan(10);
  });

  it('a listener that asked for its events, and went before the answer, is not subscribed afterwards', async () => {
    const live = new LiveSubscriber(subscriber);
    await comeIn();
    const jobId = randomUUID();
    const reconnecting = new Promise((resolve) => subscriber.once('reconnecting', resolve));
    const { stop } = live.subscribe(jobId, () => undefined);
    for (const socket of sockets) socket.destroy();
    await reconnecting;
    stop();
    await next('ready');
    await live.subscribe(randomUUID(), () => undefined).subscribed;
    expect(await producer.pubsub('NUMSUB', `millrace:job:${jobId}`)).toEqual([`millrace:job:${jobId}`, 0]);
  });
});
