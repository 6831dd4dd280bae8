import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { eventually } from '@millrace/testing';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

const PART = (name: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${name === 'file' ? '; filename="a.txt"' : ''}\r\n\r\n${value}\r\n`;
const HOUR_MS = 3_600_000;

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open();
});
afterAll(() => api.close());
beforeEach(async () => {
  account = await api.account();
});
afterEach(() => jest.restoreAllMocks());

/** Send an upload of which the rest comes an hour later, after `meanwhile`. */
async function upload(meanwhile: () => Promise<unknown>): Promise<{ status: number; body: string }> {
  const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'multipart/form-data; boundary=b' };
  const sending = request(`${api.publicUrl}/api/v2/assets`, { method: 'POST', agent: false, headers });
  const answered = once(sending, 'response');
  sending.write(
    PART('content_type', 'text/plain') + PART('file_path', 'a.txt') + PART('file', 'some bytes').slice(0, -4),
  );
  const reserved = async (): Promise<boolean> => (await api.test.database.models.storageReservation.count()) > 0;
  await eventually('the upload has begun', reserved);
  await meanwhile();
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + HOUR_MS);
  sending.end(`tes\r\n--b--\r\n`);
  const [response] = (await answered) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: await text(response) };
}

const assets = (): Promise<number> => api.test.database.models.asset.count({ where: { accountId: account.id } });

it('an upload whose key is revoked before its end is refused, and leaves nothing', async () => {
  const path = `/admin/v1/accounts/${account.id}/api-keys`;
  const { status, body } = await upload(async () => {
    const { body: list } = await api.operator().call<{ api_keys: { id: string }[] }>('GET', path);
    for (const { id } of list.api_keys) await api.operator().call('DELETE', `${path}/${id}`);
  });
  expect([status, (JSON.parse(body) as { error: { code: string } }).error.code]).toEqual([401, 'unauthorized']);
  expect(await assets()).toBe(0);
});

it('an upload whose account is suspended before its end is refused, and leaves nothing', async () => {
  const { status } = await upload(() =>
    api.operator().call('PATCH', `/admin/v1/accounts/${account.id}`, { json: { status: 'suspended' } }),
  );
  expect(status).toBe(403);
  expect(await assets()).toBe(0);
});

it('an upload that took an hour is taken when its key is still valid', async () => {
  expect((await upload(() => Promise.resolve())).status).toBe(201);
  expect(await assets()).toBe(1);
});
