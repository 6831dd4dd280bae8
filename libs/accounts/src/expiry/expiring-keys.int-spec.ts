import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { AccessRulesStore } from '../access';
import { noteExpiringKeys } from './expiring-key.store';
import { NoteExpiringKeysLoop } from './note-expiring-keys.loop';

const CONNECTIONS = 8;
const DAY_S = 86_400;
const DAY_MS = DAY_S * 1_000;

let test: TestDatabase;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase(CONNECTIONS);
});
beforeEach(async () => {
  await test.database.models.apiKey.deleteMany();
  accountId = await makeAccount(test.database);
  await listener(accountId, ['key.expiring']);
});
afterAll(() => test.drop());

const listener = (account: string, eventTypes: string[]): Promise<unknown> =>
  test.database.models.webhookEndpoint.create({
    data: {
      id: newId(),
      accountId: account,
      eventTypes,
      url: 'https://receiver.example.com/',
      origin: 'https://a.example',
    },
  });

/** A key with so many days of its life behind it, and to come. */
async function keyOf(lived: number, left: number, more: object = {}): Promise<string> {
  const id = newId();
  const times = { createdAt: new Date(Date.now() - lived * DAY_MS), expiresAt: new Date(Date.now() + left * DAY_MS) };
  const secret = { keyHash: new Uint8Array(Buffer.from(id.replaceAll('-', '').repeat(2), 'hex')), lastFour: 'abcd' };
  await test.database.models.apiKey.create({
    data: { id, accountId, name: 'a key', scopes: [], ...secret, ...times, ...more },
  });
  return id;
}

const notices = async (id: string): Promise<number[]> => {
  const rows = await test.database.rows<{ days: number }>(Prisma.sql`
    SELECT (data ->> 'days')::int AS days FROM webhook_messages
    WHERE type = 'key.expiring' AND data ->> 'id' = ${id} ORDER BY webhook_messages.id`);
  return rows.map(({ days }) => days);
};
const run = (): Promise<number> => new NoteExpiringKeysLoop(test.database).runOnce();
/** Time passes for a key. */
const age = (id: string, days: number): Promise<number> =>
  test.database.execute(Prisma.sql`
    UPDATE api_keys SET created_at = created_at - make_interval(secs => ${days * DAY_S}::float8),
      expires_at = expires_at - make_interval(secs => ${days * DAY_S}::float8)
    WHERE id = ${id}::uuid`);

it('a key is announced a week and a day before its end, each once', async () => {
  const id = await keyOf(30, 7.5);
  expect(await run()).toBe(0);
  await age(id, 1);
  expect(await run()).toBe(1);
  expect(await run()).toBe(0);
  expect(await notices(id)).toEqual([7]);
  await age(id, 6);
  expect(await run()).toBe(1);
  expect(await run()).toBe(0);
  expect(await notices(id)).toEqual([7, 1]);
  const [last] = await test.database.models.webhookMessage.findMany({ orderBy: { id: 'desc' }, take: 1 });
  const { expiresAt } = await test.database.models.apiKey.findUniqueOrThrow({ where: { id } });
  const expires_at = expiresAt?.toISOString();
  expect(last?.data).toEqual({ id, name: 'a key', last_four: 'abcd', labels: null, expires_at, days: 1 });
});

it('of notices that were missed the last one is sent', async () => {
  const id = await keyOf(30, 0.5);
  await run();
  await run();
  expect(await notices(id)).toEqual([1]);
});

it('a key that lives shorter than a notice is early, has ended, or is over by will, has none', async () => {
  const [short, hours] = [await keyOf(0.1, 3), await keyOf(0.01, 0.5)];
  const ended = await keyOf(30, -0.1);
  const revoked = await keyOf(30, 3, { revokedAt: new Date() });
  const rotated = await keyOf(30, 3, { revokedAt: new Date(Date.now() + DAY_MS) });
  const endless = await keyOf(30, 3, { expiresAt: null });
  expect(await run()).toBe(0);
  for (const id of [short, hours, ended, revoked, rotated, endless]) expect(await notices(id)).toEqual([]);
  await age(short, 2);
  expect(await run()).toBe(1);
  expect(await notices(short)).toEqual([1]);
});

it('a key whose end moves to a later time is announced before that, too, and one whose end comes sooner once', async () => {
  const rules = new AccessRulesStore();
  const id = await keyOf(30, 6.5, { expiresByAge: true });
  expect(await run()).toBe(1);
  await rules.applyMaxAge(test.database, accountId, 36 * DAY_S);
  expect(await run()).toBe(0);
  await rules.applyMaxAge(test.database, accountId, 90 * DAY_S);
  expect(await run()).toBe(0);
  await age(id, 54);
  expect(await run()).toBe(1);
  await age(id, 5.5);
  expect(await run()).toBe(1);
  expect(await notices(id)).toEqual([7, 7, 1]);
  await rules.applyMaxAge(test.database, accountId, null);
  const asked = { expiresAt: null, expiresByAge: false, expiryNoticeDays: null };
  expect(await test.database.models.apiKey.findUniqueOrThrow({ where: { id } })).toMatchObject(asked);
});

it('many processes at once note each key once', async () => {
  const ids = await Promise.all(Array.from({ length: 40 }, () => keyOf(30, 6)));
  await Promise.all(Array.from({ length: CONNECTIONS }, () => noteExpiringKeys(test.database, 100)));
  for (const id of ids) expect(await notices(id)).toEqual([7]);
});

it('what is undone is noted again, and is one message then', async () => {
  const id = await keyOf(30, 6, { labels: { user: 'ada' } });
  const undone = test.database.transaction(async (tx) => {
    await noteExpiringKeys(tx, 100);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await notices(id)).toEqual([]);
  expect(await run()).toBe(1);
  expect(await notices(id)).toEqual([7]);
});

it('only endpoints of its account that want it get it', async () => {
  await listener(accountId, ['job.succeeded']);
  await listener(await makeAccount(test.database), ['key.expiring']);
  const id = await keyOf(30, 6);
  await run();
  expect(await notices(id)).toEqual([7]);
});
