import { WEBHOOK_EVENTS, type Scope } from '@millrace/contracts';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface Answer {
  id: string;
  events: string[];
  replayed: number;
  error?: { code: string; message: string; details: object };
}

const ENDPOINTS = '/platform/v1/webhook-endpoints';
const URL = 'https://receiver.example.com/hook';
const OTHER_URL = 'https://other.example.com/hook';

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open();
});
beforeEach(async () => {
  account = await api.account();
});
afterAll(() => api.close());

const keyOf = async (...scopes: Scope[]): Promise<string> =>
  (await api.key(account.id, ['webhooks:write', ...scopes])).key;
const call = async (key: string, method: string, path: string, json?: object): Promise<[number, Answer]> => {
  const { status, body } = await api.client(key).call<Answer>(method, `${ENDPOINTS}${path}`, { json });
  return [status, body];
};
const made = async (events?: string[]): Promise<string> =>
  (await call(account.key, 'POST', '', { url: URL, events }))[1].id;
const message = async (endpointId: string, type: string, state: string): Promise<string> => {
  const endedAt = state === 'pending' ? null : new Date();
  const { id } = await api.test.database.models.webhookMessage.create({
    data: { endpointId, type, state, endedAt, data: {} },
  });
  return id;
};
const statesOf = async (endpointId: string): Promise<Record<string, string>> => {
  const messages = await api.test.database.models.webhookMessage.findMany({ where: { endpointId } });
  return Object.fromEntries(messages.map(({ type, state }) => [type, state]));
};

describe('a key', () => {
  it.each([
    ['job.succeeded', 'jobs:read'],
    ['batch.completed', 'jobs:read'],
    ['deployment.failed', 'jobs:read'],
    ['credits.low', 'usage:read'],
    ['spend.anomaly', 'usage:read'],
    ['exports.disabled', 'usage:read'],
    ['model.deleted', 'assets:read'],
    ['key.expiring', 'keys:admin'],
    ['webhook.disabled', 'webhooks:read'],
  ] as const)('has %s sent with the scope %s alone', async (event, scope) => {
    const [status, { error }] = await call(await keyOf(), 'POST', '', { url: URL, events: [event] });
    expect([status, error]).toMatchObject([403, { code: 'forbidden', details: { scope, events: [event] } }]);
    expect(error?.message).toContain(event);
    expect(await call(await keyOf(scope), 'POST', '', { url: URL, events: [event] })).toMatchObject([201, {}]);
  });

  it('has all events sent where it may read all of them', async () => {
    const most = await keyOf('jobs:read', 'usage:read', 'assets:read', 'webhooks:read');
    expect((await call(most, 'POST', '', { url: URL }))[0]).toBe(403);
    const all = await keyOf('jobs:read', 'usage:read', 'assets:read', 'webhooks:read', 'keys:admin');
    expect(await call(all, 'POST', '', { url: URL })).toMatchObject([201, { events: [...WEBHOOK_EVENTS] }]);
  });

  it('adds no event that it may not read, and has none of another sent to a URL of its own', async () => {
    const jobs = await keyOf('jobs:read');
    const own = await made(['job.succeeded']);
    const wide = await made();
    expect((await call(jobs, 'PATCH', `/${own}`, { events: ['job.failed', 'credits.low'] }))[0]).toBe(403);
    expect((await call(jobs, 'PATCH', `/${wide}`, { url: OTHER_URL }))[0]).toBe(403);
    expect(await call(account.key, 'GET', `/${own}`)).toMatchObject([200, { events: ['job.succeeded'] }]);
    expect(await call(account.key, 'GET', `/${wide}`)).toMatchObject([200, { url: URL }]);
    expect((await call(jobs, 'PATCH', `/${own}`, { url: OTHER_URL, events: ['job.failed'] }))[0]).toBe(200);
    expect((await call(jobs, 'PATCH', `/${wide}`, { enabled: false, description: 'away' }))[0]).toBe(200);
  });

  it('moves no endpoint for which messages wait that it may not read', async () => {
    const id = await made(['job.succeeded']);
    const jobs = await keyOf('jobs:read');
    await message(id, 'credits.low', 'pending');
    const [status, { error }] = await call(jobs, 'PATCH', `/${id}`, { url: OTHER_URL });
    expect([status, error]).toMatchObject([403, { details: { scope: 'usage:read', events: ['credits.low'] } }]);
    expect((await call(await keyOf('jobs:read', 'usage:read'), 'PATCH', `/${id}`, { url: OTHER_URL }))[0]).toBe(200);
  });

  it('sends no message again that it may not read', async () => {
    const id = await made();
    const jobs = await keyOf('jobs:read');
    const hidden = await message(id, 'credits.low', 'failed');
    await message(id, 'deployment.ready', 'failed');
    await message(id, 'webhook.test', 'failed');
    expect((await call(jobs, 'POST', `/${id}/messages/${hidden}/replay`))[0]).toBe(403);
    expect(await call(jobs, 'POST', `/${id}/replay`, {})).toMatchObject([200, { replayed: 2 }]);
    const sent = { 'deployment.ready': 'pending', 'webhook.test': 'pending' };
    expect(await statesOf(id)).toEqual({ 'credits.low': 'failed', ...sent });
    expect((await call(account.key, 'POST', `/${id}/messages/${hidden}/replay`))[0]).toBe(200);
  });
});
