import { randomUUID } from 'node:crypto';
import { createLogger } from '@millrace/platform';
import { testRedisUrl } from '@millrace/testing';
import { RedisConnections } from './redis';
import { SharedSlots } from './shared-slots';

const connections = new RedisConnections(testRedisUrl(), createLogger('api', 'fatal'));
const redis = connections.producer();
const here = new SharedSlots(redis);
const there = new SharedSlots(redis);
beforeAll(() => new Promise((resolve) => redis.once('ready', resolve)));
afterAll(() => connections.close());

let name: string;
beforeEach(() => (name = randomUUID()));
const keyOf = (): string => `millrace:slots:${name}`;

it('limits all processes together, and a place given back is free', async () => {
  const taken = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((member, nth) => (nth % 2 === 0 ? here : there).take(name, member, 3)),
  );
  expect(taken.filter(Boolean)).toHaveLength(3);
  expect(await there.count(name)).toBe(3);
  await here.release(name, 'a');
  expect([await there.take(name, 'f', 3), await here.take(name, 'g', 3)]).toEqual([true, false]);
});

it('frees the places that nobody renewed', async () => {
  await redis.zadd(keyOf(), 1, 'of a process that was killed');
  expect(await here.count(name)).toBe(0);
  expect(await here.take(name, 'a', 1)).toBe(true);
  const left = await redis.pttl(keyOf());
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(30_000);
});

it('keeps renewed places, and takes them again when Redis lost them', async () => {
  await here.take(name, 'a', 1);
  await redis.zadd(keyOf(), 1, 'a');
  await here.renew(new Map([[name, ['a', 'b']]]));
  expect(await there.take(name, 'c', 2)).toBe(false);
  await redis.del(keyOf());
  await here.renew(new Map([[name, ['a', 'b']]]));
  expect(await there.count(name)).toBe(2);
});
