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

const page = { after: BEFORE_ALL, limit: PAGE };

it('strikes out what names the label with the value or one of its sub-keys, wherever that stands, and nothing else', async () => {
  const [key, other, stranger] = [newId(), newId(), newId()];
  const named = [
    await append(key, { name: 'a key' }),
    await append(`api_key:${other}`, { name: 'a key' }),
    await append(newId(), { children: [stranger, other] }),
    await append(newId(), { text: `revoked ${stranger}-${key}, and more` }),
    await append(newId(), { labels: { plan: 'pro', user: 'ada' } }),
    await append(newId(), { label: 'user', value: 'ada' }),
    await append(newId(), { rule: JSON.stringify({ label: 'user', value: 'ada', max_jobs: 3 }) }),
    await append(newId(), { parts: [{ within: JSON.stringify({ labels: { user: 'ada' } }) }] }),
  ];
  await append(stranger, { children: [newId(), newId()], name: 'adam', user: 'bob' });
  await append(newId(), { labels: { user: 'adam' }, part: key.slice(0, 35) });
  const of = { label: 'user', value: 'ada', keyIds: [key, other] };
  const { redacted, last } = await store.redactLog(test.database, accountId, of, page);
  expect({ redacted, last: typeof last }).toEqual({ redacted: named.length, last: 'string' });
  expect(await erased()).toEqual(named);
  expect((await store.redactLog(test.database, accountId, null, page)).redacted).toBe(2 + named.length);
});

it.each(['email', 'value', 'scopes', 'name', 'owner', 'ada@example.com'])(
  'a value such as %s, which entries have in another sense, is struck out as the value of the label alone',
  async (value) => {
    const entries = [
      { email: 'ada@example.com', role: 'owner' },
      { name: value, scopes: ['jobs:read'], labels: { plan: value, [value]: 'pro' } },
      { label: 'plan', value },
      { label: value, value: 'user' },
      { rule: JSON.stringify({ label: 'plan', value }) },
      { parts: [{ label: 'user', value: 'bob' }, { label: 'plan', value }, value] },
      { labels: ['user', value] },
      { label: 'user', value: [value] },
    ];
    for (const details of entries) await append(newId(), details);
    const named = await append(newId(), { name: 'a key', labels: { user: value, other: { user: 1 } } });
    const of = { label: 'user', value, keyIds: [] };
    expect((await store.redactLog(test.database, accountId, of, page)).redacted).toBe(1);
    expect(await erased()).toEqual([named]);
  },
);

it('a text of an entry that looks like JSON and cannot be read stops no erasure', async () => {
  for (const text of ['{"a": 1', String.raw`{"a": "\u0000"}`, '{"a": 1e999999}', `{"a": ${'['.repeat(20_000)}`]) {
    await append(newId(), { name: text });
  }
  const named = await append(newId(), { labels: { user: 'ada' } });
  await store.redactLog(test.database, accountId, { label: 'user', value: 'ada', keyIds: [] }, page);
  expect(await erased()).toEqual([named]);
});

it('what a process of the version before asks to strike out is what has the value as that of a label', async () => {
  await append(newId(), { email: 'ada', value: 'bob' });
  const named = [
    await append(newId(), { labels: { user: 'value' } }),
    await append(newId(), { label: 'user', value: 'value' }),
  ];
  const key = newId();
  named.push(await append(key, {}), await append(newId(), { successor: key }));
  const texts = ['"value"', String.raw`\"value\"`, key];
  await test.database.rows(Prisma.sql`
    SELECT redacted FROM redact_audit_log(${accountId}::uuid, ${texts}::text[], ${BEFORE_ALL}::uuid, ${PAGE}::int)`);
  expect(await erased()).toEqual(named.filter((_, nth) => nth !== 2));
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
    const of = { label: 'user', value: 'acme', keyIds: ids };
    return (await store.redactLog(tx, accountId, of, { ...page, limit: 2 * PAGE })).redacted;
  });
  expect({ redacted, erased: await erased() }).toEqual({ redacted: 1, erased: named.slice(1) });
});
