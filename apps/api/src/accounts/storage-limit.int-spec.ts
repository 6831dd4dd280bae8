import { randomBytes } from 'node:crypto';
import type { Asset } from '@millrace/contracts';
import type { Answer } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

const SIZE = 100_000;
/** Three files and their forms fit, a fourth does not. */
const LIMIT = 3.5 * SIZE;

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
  account = await api.account({ limits: { storage_bytes: LIMIT } });
});
afterAll(() => api.close());

const upload = (sizeBytes = SIZE): Promise<Answer<Asset>> =>
  api
    .client(account.key)
    .upload(randomBytes(sizeBytes), { content_type: 'text/plain', file_path: 'a.txt', expires_in: '3600' });

describe('the storage limit of an account', () => {
  it('lets of twenty uploads at once exactly those pass that fit', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => upload()));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(17);
    for (const { status, body } of refused) {
      expect([status, body]).toEqual([
        422,
        {
          error: {
            code: 'storage_full',
            message: expect.stringMatching(/^This account may store 350000 bytes.*Delete assets/) as string,
            details: { limit_bytes: LIMIT },
          },
        },
      ]);
    }
  });

  it('is shown to the account beside what it stores', async () => {
    const { body } = await api.client(account.key).call<object>('GET', '/platform/v1/account');
    expect(body).toMatchObject({ limits: { storage_bytes: LIMIT }, use: { storage_bytes: 3 * SIZE } });
  });

  it('is the same for an upload in parts', async () => {
    const begin = { json: { size_bytes: SIZE, content_type: 'text/plain', file_path: 'a.txt' } };
    const { status, body } = await api.client(account.key).call('POST', '/api/v2/uploads', begin);
    expect([status, body.error.code]).toEqual([422, 'storage_full']);
  });

  it('once reached refuses submissions too, and the audit finds every byte counted', async () => {
    const client = api.client(account.key);
    const submit = async (): Promise<number> =>
      (await client.call('POST', '/api/v2/jobs', { json: { workflow: GRAPH } })).status;
    expect(await submit()).toBe(201);
    const outcome = await api
      .operator()
      .call('PATCH', `/admin/v1/accounts/${account.id}`, { json: { storage_bytes: 3 * SIZE } });
    expect(outcome.status).toBe(200);
    expect(await submit()).toBe(422);
    const audit = await api.operator().call<{ findings: { check: string }[] }>('GET', '/admin/v1/audit');
    expect(audit.status).toBe(200);
    expect(JSON.stringify(audit.body)).not.toContain('stored-bytes-are-counted');
  });
});
