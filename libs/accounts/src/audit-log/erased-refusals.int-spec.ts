import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { besideTransaction } from '@millrace/database';
import { createLogger, KeyRing } from '@millrace/platform';
import { createTestDatabase, eventually, makeAccount, type TestDatabase } from '@millrace/testing';
import { AccountStore } from '../account.store';
import { ApiKeyMint } from '../api-key-mint';
import { ApiKeyStore } from '../api-key.store';
import { Authenticator } from '../authenticator';
import { AccountErasureStore } from '../erasure';
import { FailedAttempts } from '../failed-attempts';
import { AuditLogStore } from './audit-log.store';
import { RefusalLog } from './refusal-log';

const HERE = '203.0.113.7';
const ADA = { label: 'user', value: 'ada' };
const mint = new ApiKeyMint(KeyRing.of(randomBytes(32)));
const logger = createLogger('api', 'fatal');
const erasure = new AccountErasureStore();

let test: TestDatabase;
let accountId: string;
let refusals: RefusalLog;
let authenticator: Authenticator;
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(async () => {
  accountId = await makeAccount(test.database);
  refusals = new RefusalLog(test.database, new AuditLogStore(), logger);
  const failures = new FailedAttempts(1_000, logger);
  authenticator = new Authenticator(test.database, new ApiKeyStore(), mint, failures, logger, refusals);
});
afterEach(async () => {
  await authenticator.close();
  await refusals.close();
});
afterAll(() => test.drop());

/** A key that was revoked. */
async function revokedKey(labels?: Record<string, string>): Promise<{ id: string; key: string }> {
  const { key, hash, lastFour } = mint.make('live');
  const id = newId();
  const facts = { id, accountId, name: 'a key', keyHash: new Uint8Array(hash), lastFour, scopes: [], labels };
  await test.database.models.apiKey.create({ data: { ...facts, revokedAt: new Date(0) } });
  return { id, key };
}

const isWaiting = async (): Promise<boolean> => {
  const waiting = await besideTransaction(() =>
    test.database.query(
      Prisma.sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    ),
  );
  return waiting.length > 0;
};
const present = (key: string, network = HERE): Promise<unknown> =>
  authenticator.authenticate(`Bearer ${key}`, network).catch(() => undefined);
/** What is in the log once all that was counted is written. */
async function subjectsOfLog(): Promise<string[]> {
  await refusals.close();
  const entries = await test.database.models.auditEntry.findMany({ where: { accountId }, orderBy: { id: 'asc' } });
  return entries.map(({ subjectId }) => subjectId);
}

it('a key of an erased account leaves no address in the log, from whichever network, nor does what was counted before', async () => {
  const { id, key } = await revokedKey();
  await present(key);
  await present(key);
  await test.database.transaction((tx) => erasure.close(tx, accountId));
  await present(key, '203.0.113.8');
  expect(await subjectsOfLog()).toEqual([id]);
});

it('a sign-in link of an erased account leaves none', async () => {
  await test.database.transaction((tx) => erasure.close(tx, accountId));
  refusals.note({ action: 'sign_in_link.refuse', subjectType: 'sign_in_link', subjectId: newId(), accountId }, HERE);
  expect(await subjectsOfLog()).toEqual([]);
});

it('a sub-key that is being made while its label is erased is revoked with the others', async () => {
  let revoked: Promise<number> = Promise.resolve(0);
  let isOver = false;
  const beside = AsyncLocalStorage.snapshot();
  await test.database.transaction(async (tx) => {
    expect(await new AccountStore().lock(tx, accountId)).toBe(true);
    const { hash, lastFour } = mint.make('live');
    const facts = {
      accountId,
      name: 'hers',
      keyHash: new Uint8Array(hash),
      lastFour,
      scopes: [],
      labels: { user: 'ada' },
    };
    await tx.models.apiKey.create({ data: { id: newId(), ...facts } });
    revoked = beside(() => test.database.transaction((other) => erasure.revokeSubKeys(other, accountId, ADA)));
    void revoked.finally(() => (isOver = true));
    await eventually('the erasure to wait or to end', async () => isOver || (await isWaiting()));
  });
  expect(await revoked).toBe(1);
});

it('a sub-key of an erased label leaves none, and another key of the account does', async () => {
  const [hers, bobs] = [await revokedKey({ user: 'ada' }), await revokedKey({ user: 'bob' })];
  for (const { key } of [hers, hers, bobs]) await present(key);
  await test.database.transaction((tx) => erasure.revokeSubKeys(tx, accountId, ADA));
  for (const { key } of [hers, bobs]) await present(key, '203.0.113.8');
  expect((await subjectsOfLog()).filter((id) => id === hers.id)).toHaveLength(1);
  expect((await subjectsOfLog()).filter((id) => id === bobs.id)).toHaveLength(2);
});

it('an entry that waits for an account that is being closed is not written', async () => {
  const { id, key } = await revokedKey();
  await test.database.transaction(async (tx) => {
    await erasure.close(tx, accountId);
    await besideTransaction(() => present(key));
    await eventually('the entry to wait for the account', async () => {
      const isWaiting = Prisma.sql`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return (await besideTransaction(() => test.database.query(isWaiting))).length > 0;
    });
  });
  expect(await subjectsOfLog()).not.toContain(id);
});
