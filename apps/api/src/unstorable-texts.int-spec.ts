import type { ErrorEnvelope } from '@millrace/contracts';
import type { Answer } from '@millrace/testing';
import { RunningApi, type TestAccount } from './fixtures/running-api';

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open();
  account = await api.account();
});
afterAll(() => api.close());

type Asked = Answer<ErrorEnvelope>;
const asCustomer = (method: string, path: string, json?: object): Promise<Asked> =>
  api.client(account.key).call<ErrorEnvelope>(method, path, json && { json });
const asOperator = (method: string, path: string, json?: object, headers = {}): Promise<Asked> =>
  api.operator().call<ErrorEnvelope>(method, path, json ? { json, headers } : { headers });
const fieldsOf = ({ body }: Asked): unknown =>
  (body.error.details?.fields as { field: string }[]).map(({ field }) => field);

describe('a text that PostgreSQL cannot store', () => {
  it.each([
    ['/api/v2/assets?content_type=image%00', 'content_type'],
    ['/platform/v1/audit?actor=%00', 'actor'],
    ['/platform/v1/audit?action=a%00', 'action'],
    ['/platform/v1/audit?subject_id=%00', 'subject_id'],
    ['/platform/v1/audit/export?actor=%00', 'actor'],
  ])('is 400 in a query: %s', async (path, field) => {
    const answer = await asCustomer('GET', path);
    expect([answer.status, answer.body.error.code, fieldsOf(answer)]).toEqual([400, 'invalid_request', [field]]);
  });

  it.each([
    ['/admin/v1/accounts?name=%00', 'name'],
    ['/admin/v1/workers?pool=%00', 'pool'],
    ['/admin/v1/audit-log?actor=%00', 'actor'],
    ['/admin/v1/audit-log?subject_id=%00', 'subject_id'],
  ])('is 400 in a query of operators: %s', async (path, field) => {
    const answer = await asOperator('GET', path);
    expect([answer.status, answer.body.error.code, fieldsOf(answer)]).toEqual([400, 'invalid_request', [field]]);
  });

  const destination = { bucket: 'a-bucket', access_key_id: 'k', secret_access_key: 's' };
  const deployment = { name: 'a', engine_class: 'cpu' };
  it.each([
    ['POST', '/platform/v1/webhook-endpoints', { url: 'https://example.com/a\0b' }, 'url'],
    ['POST', '/platform/v1/webhook-endpoints', { url: 'https://example.com/a\ud800b' }, 'url'],
    ['PUT', '/platform/v1/export-destination', { ...destination, endpoint: 'https://example.com/\0' }, 'endpoint'],
    ['POST', '/platform/v1/deployments', { ...deployment, name: 'a\ud800' }, 'name'],
    [
      'POST',
      '/platform/v1/deployments',
      { ...deployment, models: [{ folder: 'a\0', name: 'a.bin' }] },
      'models.0.folder',
    ],
    ['POST', '/platform/v1/api-keys', { name: 'a\udfffb', scopes: ['jobs:read'] }, 'name'],
  ])('is 422 in a body: %s %s %j', async (method, path, json, field) => {
    const answer = await asCustomer(method, path, json);
    expect([answer.status, answer.body.error.code, fieldsOf(answer)]).toEqual([422, 'invalid_request', [field]]);
  });

  it('is 422 in a body of operators', async () => {
    const path = `/admin/v1/accounts/${account.id}/credits`;
    const answer = await asOperator('POST', path, { amount_micros: 1, reason: 'a\0' });
    expect([answer.status, fieldsOf(answer)]).toEqual([422, ['reason']]);
  });

  it('is 400 in the reason of an operator', async () => {
    const headers = { 'Millrace-Reason': 'a%00' };
    const answer = await asOperator('PATCH', `/admin/v1/accounts/${account.id}`, { plan: 'large' }, headers);
    expect([answer.status, fieldsOf(answer)]).toEqual([400, ['Millrace-Reason']]);
  });
});
