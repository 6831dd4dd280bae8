import { createLogger } from '@millrace/platform';
import { FailedAttempts } from '../failed-attempts';
import { CachedHolders } from './cached-holders';

const FAILURES_PER_MINUTE = 3;
/** Look-ups of tagged secrets that find nothing, after which those of a network with too many failures end. */
const SPARE = 1_000;
const HERE = '203.0.113.7';

let loads: string[];
let live: Set<string>;
let now: number;
let holders: CachedHolders<{ name: string; validMs: null }>;
beforeEach(() => {
  loads = [];
  live = new Set(['live']);
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  holders = new CachedHolders(new FailedAttempts(FAILURES_PER_MINUTE, createLogger('test', 'silent'), () => now), {
    load: async (hash) => {
      loads.push(hash);
      return live.has(hash) ? { name: hash, validMs: null } : null;
    },
    ttlMs: 3_000,
    countsLookUps: true,
  });
});
afterEach(() => jest.restoreAllMocks());

const find = (hash: string, network = HERE): Promise<string> =>
  holders.find({ hash, isOurs: true, network }).then(
    (holder) => holder?.name ?? 'nobody',
    ({ code }: { code: string }) => code,
  );

it('keeps who has a secret that works, however many that have ended are presented', async () => {
  for (let i = 0; i < 2; i += 1) expect(await find('live')).toBe('live');
  loads = [];
  for (let i = 0; i < 10_000; i += 1) await find(`ended ${i}`, `203.0.113.${i}`);
  expect(loads).toHaveLength(10_000);
  expect(await find('live')).toBe('live');
  expect(loads).not.toContain('live');
});

it('looks up few secrets that have ended of one network, while those that worked here pass', async () => {
  await find('live');
  loads = [];
  const outcomes: string[] = [];
  for (let i = 0; i < 2_000; i += 1) outcomes.push(await find(`ended ${i}`));
  expect(loads).toHaveLength(SPARE);
  expect(outcomes.slice(0, SPARE)).toEqual(Array(SPARE).fill('nobody'));
  expect(outcomes.at(-1)).toBe('rate_limited');
  holders.forget();
  expect(await find('live')).toBe('live');
});

it('looks up one that has ended once a minute, and never limits who repeats it', async () => {
  for (let i = 0; i < 500; i += 1) {
    now = i * 100;
    if (i % 100 === 0) holders.forget();
    expect(await find('ended')).toBe('nobody');
  }
  expect(loads).toEqual(['ended']);
  now = 60_000;
  expect(await find('ended')).toBe('nobody');
  expect(loads).toEqual(['ended', 'ended']);
});

it('counts one look-up that many share once', async () => {
  expect(new Set(await Promise.all(Array.from({ length: 2_000 }, () => find('ended'))))).toEqual(new Set(['nobody']));
  expect(loads).toEqual(['ended']);
});

it('looks up one that worked and has ended no more', async () => {
  await find('live');
  live.clear();
  holders.forget();
  loads = [];
  for (let i = 0; i < 10; i += 1) expect(await find('live')).toBe('nobody');
  expect(loads).toEqual(['live']);
});
