import { KeyRing, createLogger } from '@millrace/platform';
import type { Statements } from '@millrace/database';
import { ApiKeyMint, type NewApiKey } from './api-key-mint';
import type { ApiKeyStore, KeyHolder } from './api-key.store';
import { DEFAULT_LIMITS } from './account-limits';
import { Authenticator } from './authenticator';
import { FailedAttempts } from './failed-attempts';

const HERE = '203.0.113.7';
const logger = createLogger('api', 'fatal');
const mintOf = (byte: number): ApiKeyMint => new ApiKeyMint(KeyRing.of(Buffer.alloc(32, byte)));
const ours = mintOf(1);
const madeUp = mintOf(2);

let lookups: number;
let real: NewApiKey;
let gone: NewApiKey;
let noted: string[][];
let authenticator: Authenticator;
beforeEach(() => {
  lookups = 0;
  real = ours.make('live');
  gone = ours.make('live');
  noted = [];
  const caller = {
    apiKeyId: null,
    accountId: 'a',
    labels: null,
    accountStatus: 'active' as const,
    scopes: new Set<never>(),
  };
  const holder: KeyHolder = { caller: { ...caller, limits: DEFAULT_LIMITS }, validMs: null };
  const keys = {
    findHolders: async (_: Statements, hashes: readonly Buffer[]) => {
      lookups += hashes.length;
      return hashes.map((hash) => (hash.equals(real.hash) ? holder : null));
    },
    findEndedKey: async (_: Statements, hash: Buffer) => (hash.equals(gone.hash) ? { id: 'k', accountId: 'a' } : null),
  } as unknown as ApiKeyStore;
  const failures = new FailedAttempts(20, logger, () => 0);
  authenticator = new Authenticator({} as Statements, keys, ours, failures, logger, {
    note: (act, network, keyHash) => {
      expect(keyHash).toEqual(gone.hash);
      noted.push([act.subjectId, network]);
    },
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  return authenticator.close();
});

const send = (key: string, network = HERE): Promise<unknown> => authenticator.authenticate(`Bearer ${key}`, network);
const bogus = (): string => madeUp.make('live').key;

it('looks up few unknown keys of a network, and lets those of valid keys behind it pass', async () => {
  await send(real.key);
  const before = lookups;
  const answers = await Promise.allSettled(Array.from({ length: 200 }, () => send(bogus())));
  expect(lookups - before).toBe(30);
  expect(answers.every(({ status }) => status === 'rejected')).toBe(true);
  await expect(send(bogus())).rejects.toMatchObject({ code: 'rate_limited', status: 429 });
  await expect(send(real.key)).resolves.toMatchObject({ accountId: 'a' });
  authenticator.forget();
  await expect(send(real.key)).resolves.toMatchObject({ accountId: 'a' });
});

it('notes whose key it was that has ended, each time that it looks, and of no other', async () => {
  for (const key of [gone.key, bogus(), ours.make('live').key, real.key, gone.key])
    await send(key).catch(() => undefined);
  expect(noted).toEqual([
    ['k', HERE],
    ['k', HERE],
  ]);
});

it('looks up a key of ours that this process has not seen, no matter what else its network sends', async () => {
  await Promise.allSettled(Array.from({ length: 200 }, () => send(bogus())));
  await expect(send(bogus())).rejects.toMatchObject({ code: 'rate_limited' });
  await expect(send(real.key)).resolves.toMatchObject({ accountId: 'a' });
});

it('looks up a valid key without a tag of ours, while its network has lookups left', async () => {
  real = madeUp.make('live');
  for (let i = 0; i < 25; i += 1) await send(bogus()).catch(() => undefined);
  await expect(send(real.key)).resolves.toMatchObject({ accountId: 'a' });
});

it('looks up a key of ours that has ended once, and then as one that was made up', async () => {
  for (let i = 0; i < 200; i += 1) await send(bogus()).catch(() => undefined);
  const ended = Array.from({ length: 50 }, () => ours.make('live').key);
  for (let round = 0; round < 3; round += 1) {
    authenticator.forget();
    const before = lookups;
    for (const key of ended) await send(key).catch(() => undefined);
    expect(lookups - before).toBe(round === 0 ? ended.length : 0);
  }
});

it('looks up few keys of ours that have ended of a network with too many failures, however many it sends in turn', async () => {
  const ended = Array.from({ length: 10_050 }, () => ours.make('live').key);
  for (const key of ended) await send(key).catch(() => undefined);
  expect(lookups).toBe(1_000);
  await expect(send(ended.at(-1) ?? '')).rejects.toMatchObject({ code: 'rate_limited' });
  expect(lookups).toBe(1_000);
  await expect(send(real.key, '203.0.113.8')).resolves.toMatchObject({ accountId: 'a' });
  await expect(send(real.key)).resolves.toMatchObject({ accountId: 'a' });
});

it('looks up any number of valid keys of ours that come from a network with too many failures', async () => {
  for (let i = 0; i < 30; i += 1) await send(bogus()).catch(() => undefined);
  for (let i = 0; i < 1_500; i += 1) {
    real = ours.make('live');
    await expect(send(real.key)).resolves.toMatchObject({ accountId: 'a' });
  }
});

it('shares one lookup among the requests of a key that it does not know', async () => {
  await Promise.all(Array.from({ length: 100 }, () => send(real.key)));
  expect(lookups).toBe(1);
});

it('keeps valid keys cached, however many others are sent', async () => {
  jest.spyOn(performance, 'now').mockReturnValue(0);
  await send(real.key);
  await send(real.key);
  const before = lookups;
  for (let i = 0; i < 12_000; i += 1) await send(bogus(), `203.0.113.${i}`).catch(() => undefined);
  expect(lookups - before).toBe(12_000);
  await send(real.key);
  expect(lookups - before).toBe(12_000);
});

it('refuses a mistyped key without a lookup, and counts it', async () => {
  for (let i = 0; i < 20; i += 1) await expect(send('mr_live_x')).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(send('mr_live_x')).rejects.toMatchObject({ code: 'rate_limited' });
  expect(lookups).toBe(0);
});
