import { randomBytes } from 'node:crypto';
import { isUuid } from '@millrace/contracts';
import { KeyRing } from '@millrace/platform';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { DEFAULT_LIMITS } from './account-limits';
import { AccountStore } from './account.store';
import { NetworkAccounts } from './network-accounts.service';

const DEPLOYMENT = '0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const key = (): string => randomBytes(32).toString('base64');

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** What a process that was started with this ring knows. */
function process(ring: string, limits = DEFAULT_LIMITS): NetworkAccounts {
  const parsed = KeyRing.parse(ring);
  if (typeof parsed === 'string') throw new Error(parsed);
  return new NetworkAccounts(test.database, new AccountStore(), parsed, limits);
}

it('each network has an account, the same on every process, and another at each deployment', async () => {
  const ring = key();
  const [here, there] = [process(ring), process(ring)];
  const id = await here.of(DEPLOYMENT, '203.0.113.1', true);
  expect(isUuid(id)).toBe(true);
  expect(await there.of(DEPLOYMENT, '203.0.113.1', false)).toBe(id);
  const others = [
    await here.of(DEPLOYMENT, '203.0.113.2', true),
    await here.of(DEPLOYMENT.replace('0199', '0198'), '203.0.113.1', true),
  ];
  expect(new Set([id, ...others]).size).toBe(3);
});

it('an account is the same while a key of the ring is replaced, in any order in which processes learn of it', async () => {
  const [old, next] = [key(), key()];
  const before = await process(old).of(DEPLOYMENT, 'a', true);
  for (const ring of [`${old},${next}`, `${next},${old}`]) {
    expect(await process(ring).of(DEPLOYMENT, 'a', false)).toBe(before);
    expect(await process(ring).of(DEPLOYMENT, 'a', true)).toBe(before);
  }
  const made = await process(`${next},${old}`).of(DEPLOYMENT, 'b', true);
  expect(await process(`${old},${next}`).of(DEPLOYMENT, 'b', true)).toBe(made);
});

it('a network that writes has its limits kept, and those of a later configuration', async () => {
  const ring = key();
  const id = await process(ring, { ...DEFAULT_LIMITS, runningLimit: 2 }).of(DEPLOYMENT, 'c', true);
  const limitOf = async (): Promise<number | null> =>
    (await new AccountStore().find(test.database, id))?.runningLimit ?? null;
  expect(await limitOf()).toBe(2);
  await process(ring, { ...DEFAULT_LIMITS, runningLimit: 3 }).of(DEPLOYMENT, 'c', true);
  expect(await limitOf()).toBe(3);
});
