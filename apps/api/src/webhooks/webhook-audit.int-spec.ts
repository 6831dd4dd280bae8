import { newId } from '@millrace/contracts';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface Entry {
  actor: string;
  action: string;
  subject_type: string;
  subject_id: string;
  details: object;
}

const ENDPOINTS = '/platform/v1/webhook-endpoints';

let api: RunningApi;
let account: TestAccount;
let id: string;
beforeAll(async () => {
  api = await RunningApi.open();
});
beforeEach(async () => {
  account = await api.account();
  const json = { url: 'https://receiver.example.com/hook?token=hidden', events: ['job.succeeded'] };
  id = (await call<{ id: string }>('POST', '', json)).id;
});
afterAll(() => api.close());

const call = async <T>(method: string, path: string, json?: object): Promise<T> =>
  (await api.client(account.key).call<T>(method, `${ENDPOINTS}${path}`, { json })).body;
const entries = async (): Promise<Entry[]> => {
  const { body } = await api.client(account.key).call<{ entries: Entry[] }>('GET', '/platform/v1/audit');
  return body.entries.filter(({ action }) => action.startsWith('webhook_endpoint.')).reverse();
};
const acts = async (): Promise<[string, object][]> =>
  (await entries()).map(({ action, details }): [string, object] => [action, details]);

describe('the audit log of an account', () => {
  it('has who made, changed, rotated and deleted a webhook endpoint, and of its URL the host alone', async () => {
    await call('PATCH', `/${id}`, { url: 'https://other.example.com:8443/x/hidden', events: ['job.failed'] });
    await call('PATCH', `/${id}`, { enabled: false, description: 'hidden' });
    await call('POST', `/${id}/rotate`, { overlap_seconds: 60 });
    await call('DELETE', `/${id}`);
    expect(await acts()).toEqual([
      ['webhook_endpoint.create', { host: 'receiver.example.com', events: ['job.succeeded'] }],
      ['webhook_endpoint.update', { host: 'other.example.com:8443', events: ['job.failed'] }],
      ['webhook_endpoint.update', { enabled: false }],
      ['webhook_endpoint.rotate', { overlap_seconds: 60 }],
      ['webhook_endpoint.delete', { host: 'other.example.com:8443' }],
    ]);
    const logged = await entries();
    expect(JSON.stringify(logged)).not.toMatch(/hidden|whsec/);
    const by = { actor: `api_key:${account.keyId}`, subject_type: 'webhook_endpoint', subject_id: id };
    for (const entry of logged) expect(entry).toMatchObject(by);
  });

  it('has each replay, with what was asked for and how many messages it sent', async () => {
    const { id: messageId } = await call<{ id: string }>('POST', `/${id}/test`);
    await api.test.database.models.webhookMessage.update({
      where: { id: messageId },
      data: { state: 'failed', endedAt: new Date() },
    });
    await call('POST', `/${id}/replay`, { since: '2026-01-01T00:00:00Z', delivered: true });
    await call('POST', `/${id}/messages/${messageId}/replay`);
    const span = { since: '2026-01-01T00:00:00.000Z', until: null, states: ['delivered', 'failed'] };
    expect((await acts()).slice(1)).toEqual([
      ['webhook_endpoint.replay', { ...span, replayed: 1 }],
      ['webhook_endpoint.replay', { message_id: messageId }],
    ]);
  });

  it('has nothing of what was refused', async () => {
    await call('PATCH', `/${newId()}`, { enabled: false });
    await call('PATCH', `/${id}`, { url: 'https://127.0.0.1/' });
    await call('POST', `/${id}/messages/${newId()}/replay`);
    await call('POST', `/${newId()}/rotate`, {});
    await call('DELETE', `/${newId()}`);
    expect(await acts()).toHaveLength(1);
  });
});
