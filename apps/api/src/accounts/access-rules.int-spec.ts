import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { Database } from '@millrace/database';
import { SignedInBrowser } from '../fixtures/browser';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface Key {
  id: string;
  key: string;
  status: string;
  expires_at: string | null;
  expires_by_age: boolean;
  allowed_addresses: string[];
}

const RULES = '/platform/v1/account/access';
const KEYS = '/platform/v1/api-keys';
const OFFICE = '203.0.113.7';
const OFFICES = '203.0.113.0/24';
const ELSEWHERE = '198.51.100.9';
const DAY = 86_400;
const LATER = '2099-01-01T00:00:00.000Z';

let api: RunningApi;
let database: Database;
beforeAll(async () => {
  api = await RunningApi.open({ MILLRACE_TRUSTED_PROXIES: '1' });
  database = new Database({ databaseUrl: api.test.url, databasePoolSize: 1, databaseTimeoutMs: 30_000 }, 'a-test');
});
afterAll(async () => {
  await database.close();
  await api.close();
});

const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
const call = <T>(key: string, method: string, path: string, json?: object, address = OFFICE) =>
  api.client(key).call<T>(method, path, { ...from(address), ...(json && { json }) });
const statusFrom = async (key: string, address: string): Promise<number> =>
  (await call(key, 'GET', '/api/v2/jobs', undefined, address)).status;
const setRules = ({ key }: TestAccount, json: object) => call(key, 'PATCH', RULES, json);
const make = async (by: string, json: object): Promise<Key> => (await call<Key>(by, 'POST', KEYS, json)).body;
const keyOf = async ({ key }: TestAccount, id: string): Promise<Key | undefined> =>
  (await call<{ api_keys: Key[] }>(key, 'GET', KEYS)).body.api_keys.find((shown) => shown.id === id);
const age = (id: string, seconds: number) =>
  database.execute(Prisma.sql`
    UPDATE api_keys SET created_at = created_at - make_interval(secs => ${seconds}::int) WHERE id = ${id}::uuid`);
/** Seconds from now until a key expires, at most an hour off. */
const daysLeft = ({ expires_at: at }: Key): number => Math.round((Date.parse(at ?? '') - Date.now()) / (DAY * 1_000));

describe('the allow-list of an account', () => {
  it('refuses its keys and sessions from elsewhere, says why, and notes it', async () => {
    const account = await api.account();
    const browser = await SignedInBrowser.signIn(api.client(null), { api_key: account.key });
    const cookie = { cookie: `millrace_session=${browser.session}` };
    const set = await setRules(account, { allowed_addresses: [OFFICES, '2001:db8::/32'] });
    expect(set).toMatchObject({ status: 200, body: { allowed_addresses: [OFFICES, '2001:db8::/32'] } });
    expect(await statusFrom(account.key, OFFICE)).toBe(200);
    expect(await statusFrom(account.key, '2001:db8:1::5')).toBe(200);
    // Some proxies append the port.
    for (const address of [`${OFFICE}:54321`, '[2001:db8:1::5]:443'])
      expect(await statusFrom(account.key, address)).toBe(200);
    const refused = await call(account.key, 'GET', '/api/v2/jobs', undefined, ELSEWHERE);
    expect(refused).toMatchObject({
      status: 403,
      body: { error: { code: 'forbidden', details: { address: ELSEWHERE, list: 'account' } } },
    });
    const asSession = async (address: string, path: string): Promise<number> => {
      const headers = { ...cookie, 'X-Forwarded-For': address };
      return (await api.client(null).call('GET', path, { headers })).status;
    };
    expect(await asSession(ELSEWHERE, '/api/v2/jobs')).toBe(403);
    expect(await asSession(ELSEWHERE, '/platform/v1/session')).toBe(403);
    expect(await asSession(OFFICE, '/platform/v1/session')).toBe(200);
    const signIn = { json: { api_key: account.key }, ...from(ELSEWHERE) };
    expect((await api.client(null).call('POST', '/platform/v1/sessions', signIn)).status).toBe(403);
    const log = await api.operator().call('GET', `/admin/v1/audit-log?account_id=${account.id}`);
    expect(log.text.match(/api_key\.refuse_address/g)).toHaveLength(1);
    expect(log.text).toContain(ELSEWHERE);
    expect(await statusFrom(account.key, 'unknown')).toBe(403);
    expect((await setRules(account, { allowed_addresses: [] })).status).toBe(200);
    expect(await statusFrom(account.key, ELSEWHERE)).toBe(200);
  });

  it('counts the address that the trusted proxy saw, not one that the client claims', async () => {
    const account = await api.account();
    await setRules(account, { allowed_addresses: [OFFICE] });
    expect(await statusFrom(account.key, `${OFFICE}, ${ELSEWHERE}`)).toBe(403);
    expect(await statusFrom(account.key, `${ELSEWHERE}, ${OFFICE}`)).toBe(200);
  });

  it('is refused where it would lock out who sets it, or names no network; an operator lets them in again', async () => {
    const account = await api.account();
    const refused = { status: 422, body: { error: { details: { fields: [{ field: 'allowed_addresses' }] } } } };
    expect(await setRules(account, { allowed_addresses: ['198.51.100.0/24'] })).toMatchObject(refused);
    const nothing = await setRules(account, { allowed_addresses: [OFFICE, 'the office'] });
    expect(nothing).toMatchObject({ status: 422 });
    expect(nothing.text).toContain('allowed_addresses[1]');
    const path = `/admin/v1/accounts/${account.id}/access`;
    const byOperator = (json: object) => api.operator().call('PATCH', path, { json });
    expect((await byOperator({ allowed_addresses: ['198.51.100.0/24'] })).status).toBe(200);
    expect(await statusFrom(account.key, OFFICE)).toBe(403);
    expect((await byOperator({ allowed_addresses: [] })).status).toBe(200);
    expect(await statusFrom(account.key, OFFICE)).toBe(200);
    expect((await api.operator().call('GET', `/admin/v1/accounts/${newId()}/access`)).status).toBe(404);
  });
});

describe('the allow-list of a key', () => {
  it('bounds the key alone, and can be changed', async () => {
    const account = await api.account();
    const key = await make(account.key, { name: 'ci', allowed_addresses: [OFFICES] });
    expect(key.allowed_addresses).toEqual([OFFICES]);
    expect(await statusFrom(key.key, OFFICE)).toBe(200);
    const refused = await call(key.key, 'GET', '/api/v2/jobs', undefined, ELSEWHERE);
    expect(refused).toMatchObject({ status: 403, body: { error: { details: { list: 'key' } } } });
    expect(await statusFrom(account.key, ELSEWHERE)).toBe(200);
    const changed = await call<Key>(account.key, 'PATCH', `${KEYS}/${key.id}`, { allowed_addresses: [ELSEWHERE] });
    expect(changed).toMatchObject({ status: 200, body: { id: key.id, allowed_addresses: [ELSEWHERE] } });
    expect(await statusFrom(key.key, ELSEWHERE)).toBe(200);
    expect(await statusFrom(key.key, OFFICE)).toBe(403);
  });

  it('goes to the keys that it makes, which get no more, and to its successor', async () => {
    const account = await api.account();
    const bound = await make(account.key, { name: 'bound', allowed_addresses: [OFFICES] });
    expect((await make(bound.key, { name: 'child' })).allowed_addresses).toEqual([OFFICES]);
    const beyond = (json: object) => call(bound.key, 'POST', KEYS, { name: 'wide', ...json });
    expect((await beyond({ allowed_addresses: [] })).status).toBe(403);
    expect((await beyond({ allowed_addresses: ['203.0.0.0/16'] })).status).toBe(403);
    expect((await beyond({ allowed_addresses: ['203.0.113.128/25'] })).status).toBe(201);
    expect((await call(bound.key, 'PATCH', `${KEYS}/${bound.id}`, { allowed_addresses: [] })).status).toBe(403);
    const other = await make(account.key, { name: 'other' });
    expect((await call(bound.key, 'POST', `${KEYS}/${other.id}/rotate`, {})).status).toBe(403);
    const rotated = await call<Key>(bound.key, 'POST', `${KEYS}/${bound.id}/rotate`, {});
    expect(rotated).toMatchObject({ status: 201, body: { allowed_addresses: [OFFICES] } });
  });
});

describe('the maximum age of keys', () => {
  it('ends those past it at once, others at that age, and goes back as it was asked', async () => {
    const account = await api.account();
    const [old, young, dated] = [
      await make(account.key, { name: 'old' }),
      await make(account.key, { name: 'young' }),
      await make(account.key, { name: 'dated', expires_at: LATER }),
    ];
    await age(old.id, 31 * DAY);
    await age(young.id, 10 * DAY);
    expect((await setRules(account, { key_max_age_seconds: 30 * DAY })).status).toBe(200);
    expect(await statusFrom(old.key, OFFICE)).toBe(401);
    expect(await keyOf(account, old.id)).toMatchObject({ status: 'expired', expires_by_age: true });
    const aging = await keyOf(account, young.id);
    expect(aging).toMatchObject({ status: 'live', expires_by_age: true });
    expect(aging && daysLeft(aging)).toBe(20);
    await setRules(account, { key_max_age_seconds: null });
    expect(await keyOf(account, young.id)).toMatchObject({ expires_at: null, expires_by_age: false });
    expect(await keyOf(account, dated.id)).toMatchObject({ expires_at: LATER, expires_by_age: false });
    expect(await keyOf(account, old.id)).toMatchObject({ status: 'expired' });
  });

  it('holds for new keys, and a rotated key begins at zero', async () => {
    const account = await api.account();
    await setRules(account, { key_max_age_seconds: 30 * DAY });
    const made = await make(account.key, { name: 'made', expires_at: LATER });
    expect(made.expires_by_age).toBe(true);
    expect(daysLeft(made)).toBe(30);
    await age(made.id, 20 * DAY);
    await setRules(account, { key_max_age_seconds: 29 * DAY });
    expect(daysLeft((await keyOf(account, made.id)) as Key)).toBe(9);
    const rotated = await call<Key>(account.key, 'POST', `${KEYS}/${made.id}/rotate`, {});
    expect(daysLeft(rotated.body)).toBe(29);
    await setRules(account, { key_max_age_seconds: null });
    expect(await keyOf(account, rotated.body.id)).toMatchObject({ expires_at: LATER });
  });

  it('is refused where the key that asks would end, and changes nothing then', async () => {
    const account = await api.account();
    await age(account.keyId, 31 * DAY);
    const refused = await setRules(account, { allowed_addresses: [OFFICES], key_max_age_seconds: 30 * DAY });
    expect(refused).toMatchObject({
      status: 422,
      body: { error: { details: { fields: [{ field: 'key_max_age_seconds' }] } } },
    });
    const rules = await call(account.key, 'GET', RULES);
    expect(rules.body).toEqual({ allowed_addresses: [], key_max_age_seconds: null });
  });
});
