import { createLogger } from '@millrace/platform';
import type { Statements } from '@millrace/database';
import { generateApiKey } from './api-key';
import type { ApiKeyStore, KeyHolder } from './api-key.store';
import { DEFAULT_LIMITS } from './account-limits';
import { Authenticator } from './authenticator';
import { FailedAttempts } from './failed-attempts';

const HERE = '203.0.113.7';
const logger = createLogger('api', 'fatal');

let lookups: number;
let real: ReturnType<typeof generateApiKey>;
let authenticator: Authenticator;
beforeEach(() => {
  lookups = 0;
  real = generateApiKey('live');
  const caller = { apiKeyId: null, accountId: 'a', accountStatus: 'active' as const, scopes: new Set<never>() };
  const holder: KeyHolder = { caller: { ...caller, limits: DEFAULT_LIMITS }, validMs: null };
  const keys = {
    findHolder: async (_: Statements, hash: Buffer) => {
      lookups += 1;
      return hash.equals(real.hash) ? holder : null;
    },
  } as unknown as ApiKeyStore;
  const failures = new FailedAttempts(20, logger);
  authenticator = new Authenticator({} as Statements, keys, failures, logger);
});
afterEach(() => {
  jest.restoreAllMocks();
  return authenticator.close();
});

const send = (key: string, network = HERE): Promise<unknown> => authenticator.authenticate(`Bearer ${key}`, network);
const bogus = (): string => generateApiKey('live').key;

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
