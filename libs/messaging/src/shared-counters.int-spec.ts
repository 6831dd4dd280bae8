import { randomUUID } from 'node:crypto';
import { createLogger } from '@millrace/platform';
import { testRedisUrl } from '@millrace/testing';
import { RedisConnections } from './redis';
import { SharedCounters } from './shared-counters';

const LIFETIME_MS = 60_000;
const connections = new RedisConnections(testRedisUrl(), createLogger('api', 'fatal'));
const redis = connections.producer();
const [here, there, elsewhere] = Array.from({ length: 3 }, () => new SharedCounters(redis)) as [
  SharedCounters,
  SharedCounters,
  SharedCounters,
];
beforeAll(() => new Promise((resolve) => redis.once('ready', resolve)));
afterAll(() => connections.close());

let name: string;
beforeEach(() => (name = randomUUID()));
const keyOf = (): string => `millrace:counts:${name}`;
const exchange = async (by: SharedCounters, count: number): Promise<number | undefined> =>
  (await by.exchange(new Map([[name, count]]), LIFETIME_MS)).get(name);

it('gives each process the sum of what the others have counted, however often each says it', async () => {
  expect(await exchange(here, 3)).toBe(0);
  expect(await exchange(there, 4)).toBe(3);
  expect(await exchange(there, 4)).toBe(3);
  expect(await exchange(here, 5)).toBe(4);
  expect(await exchange(elsewhere, 1)).toBe(9);
});

it('has many counters in one exchange, each by its name', async () => {
  const counts = (count: number): Map<string, number> => new Map([`${name}a`, `${name}b`].map((of) => [of, count]));
  await here.exchange(new Map([[`${name}b`, 7]]), LIFETIME_MS);
  expect(await there.exchange(counts(1), LIFETIME_MS)).toEqual(
    new Map([
      [`${name}a`, 0],
      [`${name}b`, 7],
    ]),
  );
});

it('gives what others have counted of a counter to which it writes nothing', async () => {
  await exchange(here, 3);
  const other = randomUUID();
  expect(await there.exchange(new Map([[other, 1]]), LIFETIME_MS, [name])).toEqual(
    new Map([
      [other, 0],
      [name, 3],
    ]),
  );
  expect(await exchange(elsewhere, 0)).toBe(3);
});

it('expires, and begins again when Redis lost it', async () => {
  await exchange(here, 3);
  const left = await redis.pttl(keyOf());
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(LIFETIME_MS);
  await redis.del(keyOf());
  expect(await exchange(there, 2)).toBe(0);
  expect(await exchange(here, 4)).toBe(2);
});
