import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { AccountErasureStore } from './account-erasure.store';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
const PAGE = 2_000;
/** Sub-keys that one account may have. */
const KEYS = 10_000;

let test: TestDatabase;
let accountId: string;
const store = new AccountErasureStore();
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(async () => {
  accountId = await makeAccount(test.database);
});
afterAll(() => test.drop());

async function append(subjectId: string, details: Prisma.InputJsonObject): Promise<string> {
  const id = newId();
  const act = { actor: 'api_key:1', action: 'api_key.create', subjectType: 'api_key' };
  await test.database.models.auditEntry.create({ data: { id, accountId, subjectId, details, ...act } });
  return id;
}
const erased = async (): Promise<string[]> => {
  const where = { accountId, details: { equals: { erased: true } } };
  return (await test.database.models.auditEntry.findMany({ where, orderBy: { id: 'asc' } })).map(({ id }) => id);
};

it('strikes out what names a text or an id, wherever that stands, and nothing else', async () => {
  const [key, other, stranger] = [newId(), newId(), newId()];
  const named = [
    await append(key, { name: 'a key' }),
    await append(`api_key:${other}`, { name: 'a key' }),
    await append(newId(), { children: [stranger, other] }),
    await append(newId(), { text: `revoked ${stranger}-${key}, and more` }),
    await append(newId(), { labels: { user: 'ada' } }),
    await append(newId(), { body: JSON.stringify({ user: 'ada' }) }),
  ];
  await append(stranger, { children: [newId(), newId()], name: 'adam', user: 'bob' });
  await append(newId(), { labels: { user: 'adam' }, part: key.slice(0, 35) });
  const texts = ['"ada"', String.raw`\"ada\"`, key, other];
  const page = { after: BEFORE_ALL, limit: PAGE };
  const { redacted, last } = await store.redactLog(test.database, accountId, texts, page);
  expect({ redacted, last: typeof last }).toEqual({ redacted: named.length, last: 'string' });
  expect(await erased()).toEqual(named);
  expect((await store.redactLog(test.database, accountId, null, page)).redacted).toBe(2 + named.length);
});

it('of a label that as many sub-keys share as there may be, a page takes a part of the time that a statement has', async () => {
  const ids = Array.from({ length: KEYS }, () => newId());
  await test.database.execute(Prisma.sql`
    INSERT INTO audit_log (id, actor, action, subject_type, subject_id, account_id, details)
    SELECT gen_random_uuid(), 'api_key:1', 'api_key.create', 'api_key', gen_random_uuid()::text, ${accountId}::uuid,
      jsonb_build_object('name', 'of a user ' || n, 'labels', jsonb_build_object('user', n::text), 'successor', gen_random_uuid())
    FROM generate_series(1, ${PAGE}::int) n`);
  const named = [await append(ids[0] ?? '', {}), await append(newId(), { successor: ids[KEYS - 1] ?? '' })];
  const redacted = await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL statement_timeout = '5s'`);
    const page = { after: BEFORE_ALL, limit: 2 * PAGE };
    return (await store.redactLog(tx, accountId, ['"acme"', ...ids], page)).redacted;
  });
  expect({ redacted, erased: await erased() }).toEqual({ redacted: 1, erased: named.slice(1) });
});
