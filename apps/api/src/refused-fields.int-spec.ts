import type { ErrorEnvelope } from '@millrace/contracts';
import { RunningApi, type TestAccount } from './fixtures/running-api';

let api: RunningApi;
let account: TestAccount;
let deploymentId: string;
beforeAll(async () => {
  api = await RunningApi.open();
  account = await api.account();
  const json = { name: 'a test', account_id: account.id };
  const { body } = await api.operator().call<{ id: string }>('POST', '/admin/v1/deployments', { json });
  deploymentId = body.id;
});
afterAll(() => api.close());

describe('a field of a body that only its service can judge', () => {
  const destination = { bucket: 'a-bucket', access_key_id: 'k', secret_access_key: 's' };
  it.each([
    ['POST', '/platform/v1/webhook-endpoints', { url: 'https://10.0.0.1/' }, 'url'],
    ['PUT', '/platform/v1/export-destination', { ...destination, endpoint: 'https://10.0.0.1/' }, 'endpoint'],
  ])('is named with 422: %s %s', async (method, path, json, field) => {
    const { status, body } = await api.client(account.key).call<ErrorEnvelope>(method, path, { json });
    const named = [{ field, reason: expect.any(String) as string }];
    expect([status, body.error.code, body.error.details]).toEqual([422, 'invalid_request', { fields: named }]);
  });

  it.each([
    ['PATCH', '{id}', { min_workers: 2 }, 'max_workers'],
    ['POST', '{id}/versions', { min_workers: 2 }, 'max_workers'],
    ['PATCH', '{id}', { engine_class: 'none' }, 'engine_class'],
    ['POST', '{id}/versions', { engine_class: 'none' }, 'engine_class'],
  ])('is named with 422 to operators: %s %s %j', async (method, path, json, field) => {
    const at = `/admin/v1/deployments/${path.replace('{id}', deploymentId)}`;
    const { status, body } = await api.operator().call<ErrorEnvelope>(method, at, { json });
    const named = [{ field, reason: expect.any(String) as string }];
    expect([status, body.error.code, body.error.details]).toEqual([422, 'invalid_request', { fields: named }]);
  });
});
