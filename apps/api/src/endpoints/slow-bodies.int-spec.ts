import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { eventually } from '@millrace/testing';
import { SignedInBrowser } from '../fixtures/browser';
import { join } from '../fixtures/members';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';
import { OperatorGuard } from './operator.guard';
import { VisitorGuard } from './visitor.guard';

const KEYS = '/platform/v1/api-keys';
const MINUTE_MS = 60_000;

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open({ MILLRACE_PUBLIC_URL: 'https://api.test', MILLRACE_MAIL_FOLDER: '/nonexistent' });
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
afterAll(() => api.close());
beforeEach(async () => {
  account = await api.account();
});
afterEach(() => jest.restoreAllMocks());

/** Send a body of which the last byte comes a minute after the guard let its sender in, and after `meanwhile`. */
async function post(
  url: string,
  credential: Record<string, string>,
  body: object,
  meanwhile: () => Promise<unknown>,
): Promise<{ status: number; body: string }> {
  const guards = [VisitorGuard, OperatorGuard].map(({ prototype }) => jest.spyOn(prototype, 'canActivate'));
  const asked = () => guards.flatMap(({ mock }) => mock.results.map(({ value }) => value as Promise<boolean>));
  const accept = 'application/json, text/event-stream';
  const headers = { ...credential, 'content-type': 'application/json', accept };
  const sending = request(url, { method: 'POST', agent: false, headers });
  const answered = once(sending, 'response');
  const sent = JSON.stringify(body);
  sending.write(sent.slice(0, -1));
  await eventually('the guard has seen the request', () => asked().length > 0);
  expect(await asked()[0]).toBe(true);
  await meanwhile();
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + MINUTE_MS);
  sending.end(sent.slice(-1));
  const [response] = (await answered) as [IncomingMessage];
  const answer = { status: response.statusCode ?? 0, body: await text(response) };
  jest.restoreAllMocks();
  return answer;
}

let people = 0;
const joined = async (role: 'owner' | 'developer') => {
  const { id, session } = await join(api, account, role, `slow-${(people += 1)}@example.com`);
  const browser = new SignedInBrowser(api.client(null), session);
  const cookie = { cookie: `millrace_session=${session}`, 'millrace-console': '1' };
  const lower = async (lowered: 'developer' | 'viewer') => {
    const json = { role: lowered };
    const { status } = await api.client(account.key).call('PATCH', `/platform/v1/members/${id}`, { json });
    expect(status).toBe(200);
  };
  return { browser, cookie, lower };
};

const runJob = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'run_job', arguments: { workflow: GRAPH, wait_seconds: 0 } },
};
const jobs = () => api.test.database.models.job.count({ where: { accountId: account.id } });

it('a tool is called with the rights that its caller has when the call is there', async () => {
  const { cookie, lower } = await joined('developer');
  const url = `${api.publicUrl}/mcp`;
  const refused = await post(url, cookie, runJob, () => lower('viewer'));
  expect(refused.body).toContain('jobs:write');
  expect(await jobs()).toBe(0);
  await lower('developer');
  const taken = await post(url, cookie, runJob, () => Promise.resolve());
  expect([taken.status, await jobs()]).toEqual([200, 1]);
});

it('a key is replaced with the rights that its sender has when the request is there', async () => {
  await joined('owner');
  const { cookie, lower } = await joined('owner');
  const url = `${api.publicUrl}${KEYS}/${account.keyId}/rotate`;
  const refused = await post(url, cookie, { overlap_seconds: 0 }, () => lower('developer'));
  expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('scopes that you lack')]);
  expect((await api.client(account.key).call('GET', KEYS)).status).toBe(200);
});

it('an operator token that is revoked while its holder sends is refused', async () => {
  const json = { name: 'of-a-test', role: 'operator' };
  const made = await api.operator().call<{ id: string; token: string }>('POST', '/admin/v1/operator-tokens', { json });
  expect(made.status).toBe(201);
  const { id, token } = made.body;
  const url = `${api.opsUrl}/admin/v1/accounts`;
  const credential = { authorization: `Bearer ${token}`, 'millrace-reason': 'a test' };
  const revoke = () => api.operator().call('DELETE', `/admin/v1/operator-tokens/${id}`);
  const accounts = () => api.test.database.models.account.count({ where: { name: 'slow' } });
  expect((await post(url, credential, { name: 'slow' }, () => Promise.resolve())).status).toBe(201);
  expect((await post(url, credential, { name: 'slow' }, revoke)).status).toBe(401);
  expect(await accounts()).toBe(1);
});
