import { createLogger } from '@millrace/platform';
import { FailedAttempts } from './failed-attempts';

const LIMIT = 3;
const HERE = '203.0.113.7';

let now = 0;
const warn = jest.fn();
const attempts = (): FailedAttempts =>
  new FailedAttempts(LIMIT, Object.assign(createLogger('api', 'fatal'), { warn }), () => now);
const fail = (of: FailedAttempts, network = HERE): string => of.refusal(network, 'not valid').code;
const burst = async (of: FailedAttempts, count: number, load: () => Promise<null>): Promise<number> => {
  const lookups = Array.from({ length: count }, () => of.lookUp(HERE, load));
  return (await Promise.allSettled(lookups)).filter(({ status }) => status === 'fulfilled').length;
};

beforeEach(() => {
  now = 0;
  warn.mockClear();
});

it('refuses a network after its failures of a minute, and no other', () => {
  const of = attempts();
  expect([1, 2, 3, 4].map(() => fail(of))).toEqual(['unauthorized', 'unauthorized', 'unauthorized', 'rate_limited']);
  expect(fail(of, '203.0.113.8')).toBe('unauthorized');
  now = 59_999;
  expect(of.refusal(HERE, 'not valid')).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
  now = 60_000;
  expect(fail(of)).toBe('unauthorized');
});

it('logs the first failure of a network in a minute, with nothing of the credential', () => {
  const of = attempts();
  for (let i = 0; i < 9; i += 1) fail(of);
  now = 60_000;
  fail(of);
  expect(warn.mock.calls).toEqual(Array(2).fill([{ network: HERE }, 'authentication failed']));
});

it('leaves a refused network a few lookups, however many it asks for at once', async () => {
  const of = attempts();
  const load = jest.fn().mockResolvedValue(null);
  expect(await burst(of, 100, load)).toBe(LIMIT + 10);
  expect(load).toHaveBeenCalledTimes(LIMIT + 10);
});

it('counts no lookup that found its key', async () => {
  const of = attempts();
  for (let i = 0; i < 50; i += 1) expect(await of.lookUp(HERE, async () => i)).toBe(i);
});

it('counts no look-up of a key with our tag that failed: the database was away', async () => {
  const of = attempts();
  for (let i = 0; i < LIMIT; i += 1) fail(of);
  const away = new Error('away');
  for (let i = 0; i < 1_001; i += 1) await expect(of.lookUpTagged(HERE, () => Promise.reject(away))).rejects.toBe(away);
  expect(await of.lookUpTagged(HERE, async () => 'a key')).toBe('a key');
});
