import { randomBytes } from 'node:crypto';
import { SCOPES, newId } from '@millrace/contracts';
import { eventually } from '@millrace/testing';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface Key {
  id: string;
  key: string;
  status: string;
  scopes: string[];
  last_four: string;
  revoked_at: string | null;
  rotated_to: string | null;
  parent_id: string | null;
  expires_at: string | null;
  last_used_at: string | null;
}

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open();
  account = await api.account();
});
afterAll(() => api.close());

const KEYS = '/platform/v1/api-keys';
const make = (json: object, by = account.key) => api.client(by).call<Key>('POST', KEYS, { json });
const rotate = (id: string, json: object, by = account.key) =>
  api.client(by).call<Key>('POST', `${KEYS}/${id}/rotate`, { json });
const keysOf = async (key: string): Promise<Key[]> =>
  (await api.client(key).call<{ api_keys: Key[] }>('GET', KEYS)).body.api_keys;
const list = (): Promise<Key[]> => keysOf(account.key);
const statusOf = async (key: string): Promise<number> => (await api.client(key).call('GET', '/api/v2/jobs')).status;

/** A key that ends soon and was used before: one that a busy machine had no time to use is made again with more time. */
async function usedInTime<Made extends { key: string }>(
  firstSeconds: number,
  makeKey: (seconds: number) => Promise<Made>,
): Promise<Made> {
  for (let seconds = firstSeconds; ; seconds *= 2) {
    const made = await makeKey(seconds);
    if ((await statusOf(made.key)) === 200) return made;
  }
}

describe('an API key', () => {
  it('is shown once, whole, and from then on by its last four characters', async () => {
    const { status, body } = await make({ name: 'ci' });
    expect(status).toBe(201);
    expect(body.key).toMatch(/^mr_live_[0-9A-Za-z]{36}$/);
    expect(body.last_four).toBe(body.key.slice(-4));
    expect(await statusOf(body.key)).toBe(200);
    const listed = await api.client(account.key).call('GET', KEYS);
    expect(listed.text).toContain(body.id);
    expect(listed.text).not.toContain(body.key);
  });

  it('may do what it was made for and is refused the rest by the name of the scope', async () => {
    const { body } = await make({ name: 'reader', scopes: ['jobs:read'] });
    expect(body.scopes).toEqual(['jobs:read']);
    const refused = await api.client(body.key).submit('{}');
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('jobs:write');
  });

  it('grants only scopes that it has itself, whether it makes a key or replaces one', async () => {
    const { body: weak } = await make({ name: 'weak', scopes: ['keys:admin', 'jobs:read'] });
    const refused = await make({ name: 'more', scopes: ['jobs:read', 'jobs:write'] }, weak.key);
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    expect(refused.text).toContain('jobs:write');
    expect((await rotate(account.keyId, {}, weak.key)).status).toBe(403);
    const granted = await make({ name: 'same' }, weak.key);
    expect(granted.body.scopes.sort()).toEqual(['jobs:read', 'keys:admin']);
  });

  it('expires when it was to expire', async () => {
    const past = await make({ name: 'late', expires_at: '2020-01-01T00:00:00Z' });
    expect(past).toMatchObject({ status: 422, body: { error: { details: { fields: [{ field: 'expires_at' }] } } } });
    const body = await usedInTime(2, async (seconds) => {
      const expiresAt = new Date(Date.now() + seconds * 1_000).toISOString();
      return (await make({ name: 'short', expires_at: expiresAt })).body;
    });
    await eventually('the key to be refused', async () => (await statusOf(body.key)) === 401);
    expect((await list()).find(({ id }) => id === body.id)).toMatchObject({ status: 'expired' });
  });

  it('is refused as soon as it is revoked, and revoking again changes nothing', async () => {
    const { body } = await make({ name: 'gone' });
    expect(await statusOf(body.key)).toBe(200);
    const client = api.client(account.key);
    expect((await client.call('DELETE', `${KEYS}/${body.id}`)).status).toBe(204);
    expect(await statusOf(body.key)).toBe(401);
    const { revoked_at: first } = (await list()).find(({ id }) => id === body.id) ?? {};
    expect((await client.call('DELETE', `${KEYS}/${body.id}`)).status).toBe(204);
    expect((await list()).find(({ id }) => id === body.id)).toMatchObject({ status: 'revoked', revoked_at: first });
  });

  it('shows when it was last used, once the batch that records it is written', async () => {
    const { body } = await make({ name: 'used' });
    await statusOf(body.key);
    const used = await eventually(
      'the use to be written down',
      async () => (await list()).find(({ id, last_used_at: at }) => id === body.id && at !== null) ?? null,
    );
    expect(Date.parse(used.last_used_at ?? '')).toBeGreaterThan(Date.now() - 60_000);
  });
});

describe('a key that a key made', () => {
  const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();
  const inTwoHours = (): string => new Date(Date.now() + 7_200_000).toISOString();

  it('knows its parent; a key made by an operator has none', async () => {
    const { body } = await make({ name: 'child' });
    expect(body.parent_id).toBe(account.keyId);
    const listed = await list();
    expect(listed.find(({ id }) => id === account.keyId)).toMatchObject({ parent_id: null });
    expect(listed.find(({ id }) => id === body.id)).toMatchObject({ parent_id: account.keyId });
  });

  it('does not outlive it', async () => {
    const { body: parent } = await make({ name: 'parent', expires_at: inAnHour() });
    expect(await make({ name: 'longer', expires_at: inTwoHours() }, parent.key)).toMatchObject({
      status: 422,
      body: { error: { details: { fields: [{ field: 'expires_at' }] } } },
    });
    expect((await make({ name: 'as long' }, parent.key)).body.expires_at).toBe(parent.expires_at);
    const { body: other } = await make({ name: 'endless' });
    expect((await rotate(other.id, {}, parent.key)).body).toMatchObject({
      expires_at: parent.expires_at,
      parent_id: parent.id,
    });
  });

  it('does not outlive its successor: a rotation that would have it is refused, and says what to do', async () => {
    const { body: short } = await make({ name: 'short', expires_at: inAnHour() });
    const { body: parent } = await make({ name: 'parent' });
    const { body: child } = await make({ name: 'child', expires_at: inTwoHours() }, parent.key);
    const labels = { user: 'ada' };
    const { body: brief } = await make({ name: 'brief', labels, expires_at: short.expires_at }, parent.key);
    const refused = await rotate(parent.id, {}, short.key);
    expect(refused).toMatchObject({ status: 422, body: { error: { code: 'invalid_request' } } });
    expect(refused.text).toContain('Rotate it with itself');
    expect((await list()).find(({ id }) => id === parent.id)).toMatchObject({ rotated_to: null, revoked_at: null });
    const { body: next } = await rotate(parent.id, { overlap_seconds: 3_600 }, parent.key);
    expect(next.expires_at).toBeNull();
    await api.client(account.key).call('DELETE', `${KEYS}/${child.id}`);
    const { status, body: last } = await rotate(next.id, {}, short.key);
    expect({ status, end: last.expires_at }).toEqual({ status: 201, end: short.expires_at });
    const moved = (await list()).find(({ id }) => id === brief.id);
    expect(moved).toMatchObject({ parent_id: last.id, expires_at: last.expires_at });
  });

  it('ends with it, and so do the keys that it made', async () => {
    const { body: parent } = await make({ name: 'parent' });
    const { body: child } = await make({ name: 'child' }, parent.key);
    const { body: grandchild } = await make({ name: 'grandchild' }, child.key);
    await api.client(account.key).call('DELETE', `${KEYS}/${parent.id}`);
    expect([await statusOf(child.key), await statusOf(grandchild.key)]).toEqual([401, 401]);
    expect(await statusOf(account.key)).toBe(200);
  });

  it('is not left over when it is made while its parent is revoked', async () => {
    const { body: parent } = await make({ name: 'parent' });
    const [, ...made] = await Promise.all([
      api.client(account.key).call('DELETE', `${KEYS}/${parent.id}`),
      ...Array.from({ length: 6 }, () => make({ name: 'late' }, parent.key)),
    ]);
    for (const { body } of made.filter(({ status }) => status === 201)) expect(await statusOf(body.key)).toBe(401);
  });

  it('goes on with the successor of its parent, and cannot replace its parent itself', async () => {
    const { body: parent } = await make({ name: 'parent' });
    const { body: child } = await make({ name: 'child' }, parent.key);
    expect((await rotate(parent.id, {}, child.key)).status).toBe(403);
    const { body: successor } = await rotate(parent.id, { overlap_seconds: 0 }, parent.key);
    expect(successor.parent_id).toBe(account.keyId);
    expect([await statusOf(parent.key), await statusOf(child.key)]).toEqual([401, 200]);
    await api.client(account.key).call('DELETE', `${KEYS}/${successor.id}`);
    expect(await statusOf(child.key)).toBe(401);
  });
});

it('an answer with a new key is cached nowhere', async () => {
  const operator = await api
    .operator()
    .call('POST', `/admin/v1/accounts/${account.id}/api-keys`, { json: { name: 'issued' } });
  const made = await make({ name: 'made' });
  const answers = [operator, made, await rotate(made.body.id, {})];
  expect(answers.map(({ status, headers }) => [status, headers['cache-control']])).toEqual(
    Array(3).fill([201, 'no-store']),
  );
});

it('no browser guesses what an answer is, on either listener', async () => {
  const client = api.client(account.key);
  const answers = [
    await client.call('GET', KEYS),
    await client.call('GET', '/nothing/here'),
    await api.client(null).call('GET', KEYS),
    await api.operator().call('GET', '/admin/v1/workers'),
    await api.operator().call('GET', '/admin/v1/nothing'),
  ];
  expect(answers.map(({ headers }) => headers['x-content-type-options'])).toEqual(Array(5).fill('nosniff'));
  for (const path of ['/health/live', '/metrics']) {
    expect((await fetch(`${api.opsUrl}${path}`)).headers.get('x-content-type-options')).toBe('nosniff');
  }
});

describe('rotating a key', () => {
  it('makes its like, and lets the old one go on for the overlap', async () => {
    const { made, ...old } = await usedInTime(2, async (seconds) => {
      const { body } = await make({ name: 'turned', scopes: ['jobs:read'] });
      const { status, body: successor } = await rotate(body.id, { overlap_seconds: seconds });
      expect({ status, scopes: successor.scopes }).toEqual({ status: 201, scopes: ['jobs:read'] });
      return { ...body, made: successor };
    });
    expect(await statusOf(made.key)).toBe(200);
    await eventually('the old key to be refused', async () => (await statusOf(old.key)) === 401);
    expect(await statusOf(made.key)).toBe(200);
    expect((await list()).find(({ id }) => id === old.id)).toMatchObject({ rotated_to: made.id, status: 'revoked' });
  });

  it('happens once, however many ask at the same time', async () => {
    const { body: old } = await make({ name: 'contested' });
    const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(old.id, { overlap_seconds: 60 })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422]);
    const live = (await list()).filter(({ status }) => status === 'live').length;
    expect((await rotate(old.id, {})).text).toContain('was already rotated');
    expect((await list()).filter(({ status }) => status === 'live').length).toBe(live);
  });

  it('without overlap ends the old key at once, and an ended key is not rotated', async () => {
    const { body: old } = await make({ name: 'leaked' });
    expect((await rotate(old.id, { overlap_seconds: 0 })).status).toBe(201);
    expect(await statusOf(old.key)).toBe(401);
    const { body: revoked } = await make({ name: 'ended' });
    await api.client(account.key).call('DELETE', `${KEYS}/${revoked.id}`);
    expect((await rotate(revoked.id, {})).text).toContain('is revoked');
  });

  it('again with the old key, where the answer was lost, makes a key that lasts as long', async () => {
    const old = await api.key(account.id);
    const { body: lost } = await rotate(old.keyId, { overlap_seconds: 3_600 }, old.key);
    const again = await rotate(old.keyId, {}, old.key);
    expect(again.text).toContain(`rotate its successor ${lost.id}`);
    const { body: next } = await rotate(lost.id, { overlap_seconds: 3_600 }, old.key);
    expect(next).toMatchObject({ expires_at: null, parent_id: null });
    const { body: last } = await rotate(next.id, {}, old.key);
    expect(last).toMatchObject({ expires_at: null, parent_id: null });
  });

  it('that the old key made leaves it with the new one, during the overlap too', async () => {
    const old = await api.key(account.id);
    const { body: child } = await make({ name: 'child' }, old.key);
    const { body: successor } = await rotate(old.keyId, { overlap_seconds: 3_600 }, old.key);
    const { body: next } = await rotate(child.id, {}, old.key);
    expect(next).toMatchObject({ expires_at: null, parent_id: successor.id });
    const { body: made } = await make({ name: 'late' }, old.key);
    expect(made.parent_id).toBe(old.keyId);
    expect(made.expires_at).toBe((await keysOf(old.key)).find(({ id }) => id === old.keyId)?.revoked_at);
  });

  it('needs no body, and revoking cuts an overlap short', async () => {
    const { body: old } = await make({ name: 'cut' });
    expect((await api.client(account.key).call('POST', `${KEYS}/${old.id}/rotate`)).status).toBe(201);
    expect(await statusOf(old.key)).toBe(200);
    await api.client(account.key).call('DELETE', `${KEYS}/${old.id}`);
    expect(await statusOf(old.key)).toBe(401);
  });
});

it('an account with more ended keys than a list shows gets those that ended last, and all that work', async () => {
  const { id: accountId, keyId, key } = await api.account();
  const ids = Array.from({ length: 1_200 }, () => newId());
  const data = ids.map((id, index) => {
    return {
      id,
      accountId,
      name: 'old',
      keyHash: randomBytes(32),
      lastFour: '0000',
      scopes: [],
      revokedAt: new Date(ids.length - index),
    };
  });
  await api.test.database.models.apiKey.createMany({ data });
  const { body } = await api.client(key).call<{ api_keys: Key[] }>('GET', KEYS);
  expect(body.api_keys.map(({ id }) => id)).toEqual([...ids.slice(0, 1_000).reverse(), keyId]);
});

it('keys that overlap with their successors are limited, and a rotation without overlap always goes', async () => {
  const { id: accountId, keyId, key } = await api.account();
  const others = Array.from({ length: 199 }, () => {
    return { id: newId(), accountId, name: 'old', keyHash: randomBytes(32), lastFour: '0000', scopes: [] };
  });
  await api.test.database.models.apiKey.createMany({ data: others });
  const refused = await rotate(keyId, { overlap_seconds: 60 }, key);
  expect(refused).toMatchObject({ status: 422, body: { error: { code: 'invalid_request' } } });
  expect((await rotate(keyId, { overlap_seconds: 0 }, key)).status).toBe(201);
});

it('another account finds none of these keys', async () => {
  const other = await api.account();
  const client = api.client(other.key);
  expect((await client.call('DELETE', `${KEYS}/${account.keyId}`)).status).toBe(404);
  expect((await rotate(account.keyId, {}, other.key)).status).toBe(404);
  const { body } = await client.call<{ api_keys: Key[] }>('GET', KEYS);
  expect(body.api_keys.map(({ id }) => id)).toEqual([other.keyId]);
});

it('a suspended account gets an answer that says so, with a key of any scope', async () => {
  const other = await api.account({ scopes: SCOPES });
  const patched = await api
    .operator()
    .call('PATCH', `/admin/v1/accounts/${other.id}`, { json: { status: 'suspended' } });
  expect(patched.status).toBe(200);
  await eventually('the suspension to hold', async () => (await statusOf(other.key)) === 403);
  const { body } = await api.client(other.key).call('GET', KEYS);
  expect(body.error).toMatchObject({ code: 'forbidden', message: expect.stringContaining('suspended') as string });
});

it('shows an account its limits and its use', async () => {
  const other = await api.account({ limits: { running_limit: 3, stream_limit: 5 } });
  const { status, body } = await api.client(other.key).call<object>('GET', '/platform/v1/account');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id: other.id,
    plan: 'standard',
    key: { id: other.keyId, scopes: [...SCOPES] },
    limits: {
      running_jobs: 3,
      queued_jobs: 100,
      event_streams: 5,
      upload_bytes_per_day: null,
      storage_bytes: 107_374_182_400,
    },
    use: { running_jobs: 0, queued_jobs: 0, uploaded_bytes_today: 0, storage_bytes: 0, event_streams: 0 },
  });
});
