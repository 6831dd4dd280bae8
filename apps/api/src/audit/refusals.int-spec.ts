import { eventually } from '@millrace/testing';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface Entry {
  actor: string;
  action: string;
  subject_id: string;
  account_id?: string | null;
  address: string | null;
  details: Record<string, unknown>;
}

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open({ MILLRACE_TRUSTED_PROXIES: '1', MILLRACE_PUBLIC_URL: 'https://api.test' });
  account = await api.account();
});
afterAll(() => api.close());

const ofAccount = async (action: string): Promise<Entry[]> =>
  (await api.client(account.key).call<{ entries: Entry[] }>('GET', `/platform/v1/audit?action=${action}`)).body.entries;
const ofOperators = async (action: string): Promise<Entry[]> =>
  (await api.operator().call<{ entries: Entry[] }>('GET', `/admin/v1/audit-log?action=${action}`)).body.entries;
const from = (address: string): { headers: Record<string, string> } => ({ headers: { 'X-Forwarded-For': address } });

it('a revoked key that is presented is in the log of its account, once an hour from one network', async () => {
  const { key, keyId } = await api.key(account.id, ['jobs:read']);
  expect((await api.client(key).call('GET', '/api/v2/jobs')).status).toBe(200);
  await api.client(account.key).call('DELETE', `/platform/v1/api-keys/${keyId}`);
  for (const address of ['203.0.113.7', '203.0.113.7', '203.0.113.7', '203.0.113.8'])
    expect((await api.client(key).call('GET', '/api/v2/jobs', from(address))).status).toBe(401);
  const entries = await eventually('both networks to be in the log', async () => {
    const found = await ofAccount('api_key.refuse');
    return found.length > 1 && found;
  });
  expect(entries.map(({ actor, subject_id: id, address }) => [actor, id, address])).toEqual([
    ['unauthenticated', keyId, '203.0.113.8'],
    ['unauthenticated', keyId, '203.0.113.7'],
  ]);
});

it('a key that nobody has is in no log', async () => {
  const count = await api.test.database.models.auditEntry.count();
  expect((await api.client('mr_live_nonsense').call('GET', '/api/v2/jobs')).status).toBe(401);
  expect(await api.test.database.models.auditEntry.count()).toBe(count);
});

it('a sign-in link that is used when it has expired is in the log of its account', async () => {
  const made = await api
    .operator()
    .call<{ url: string }>('POST', `/admin/v1/accounts/${account.id}/sign-in-links`, { json: {} });
  const link = new URL(made.body.url).hash.replace('#link=', '');
  await api.test.database.models.signInLink.updateMany({ data: { expiresAt: new Date(Date.now() - 1) } });
  const tried = await api
    .client(null)
    .call('POST', '/platform/v1/sessions', { json: { link }, ...from('203.0.113.9') });
  expect(tried.status).toBe(401);
  const entries = await eventually('the link to be in the log', async () => {
    const found = await ofAccount('sign_in_link.refuse');
    return found.length > 0 && found;
  });
  expect(entries).toMatchObject([{ actor: 'unauthenticated', address: '203.0.113.9' }]);
});

it('a wrong admin token, and an operator token that was revoked or made up, are in the log of operators alone', async () => {
  const { body } = await api.operator().call<{ id: string; token: string }>('POST', '/admin/v1/operator-tokens', {
    json: { name: 'night', role: 'viewer' },
  });
  await api.operator().call('DELETE', `/admin/v1/operator-tokens/${body.id}`);
  for (const token of ['another-token-of-a-test', body.token, `mrop_${'a'.repeat(64)}`])
    expect((await api.operator(token).call('GET', '/admin/v1/workers', from('203.0.113.10'))).status).toBe(401);
  const tokens = await eventually('both tokens to be in the log', async () => {
    const found = await ofOperators('operator_token.refuse');
    return found.length > 1 && found.map(({ subject_id: id }) => id);
  });
  expect(new Set(tokens)).toEqual(new Set([body.id, 'operators']));
  expect(await ofOperators('admin_token.refuse')).toMatchObject([
    { actor: 'unauthenticated', subject_id: 'operators', account_id: null },
  ]);
  expect(JSON.stringify(await ofAccount('operator_token.refuse'))).toBe('[]');
});
