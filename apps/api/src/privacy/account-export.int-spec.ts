import { randomUUID } from 'node:crypto';
import type { ErrorEnvelope } from '@millrace/contracts';
import { JOBS_PAGE_BYTES } from '@millrace/privacy';
import { eventually } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

const PATH = '/platform/v1/account/export';
/** More than the sockets between two processes hold, in records of this length. */
const RECORDS = 4;
const RECORD_BYTES = 8_000_000;
/** What an account may have in memory beside an export. */
const ROOM_BYTES = 65_536;

let api: RunningApi;
beforeAll(async () => {
  const room = String(JOBS_PAGE_BYTES + ROOM_BYTES);
  api = await RunningApi.open({ MILLRACE_BODY_BYTES_IN_FLIGHT_PER_ACCOUNT: room });
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
afterAll(() => api.close());

/** An account with one stream, and so much to export that a client that reads none of it keeps the export open. */
async function largeAccount(): Promise<TestAccount> {
  const account = await api.account({ limits: { stream_limit: 1 } });
  for (let nth = 0; nth < RECORDS; nth += 1) {
    const subject = { subjectType: 'planted', subjectId: randomUUID() };
    const details = { text: 'x'.repeat(RECORD_BYTES) };
    await api.test.database.models.auditEntry.create({
      data: { id: randomUUID(), accountId: account.id, actor: 'admin', action: 'planted', ...subject, details },
    });
  }
  return account;
}

const ask = ({ key }: TestAccount, more: RequestInit = {}): Promise<Response> =>
  fetch(`${api.publicUrl}${PATH}`, { headers: { authorization: `Bearer ${key}` }, ...more });
const openStreams = async ({ key }: TestAccount): Promise<number> => {
  const { body } = await api.client(key).call<{ use: { event_streams: number } }>('GET', '/platform/v1/account');
  return body.use.event_streams;
};

describe('an export of an account', () => {
  it('counts as an open stream while it is read, until its client goes', async () => {
    const account = await largeAccount();
    const gone = new AbortController();
    expect((await ask(account, { signal: gone.signal })).status).toBe(200);
    expect(await openStreams(account)).toBe(1);
    const { id } = await api.client(account.key).run(GRAPH);
    const refused = await api.client(account.key).call('GET', `/api/v2/jobs/${id}/events`);
    expect([refused.status, refused.body.error.code]).toEqual([429, 'too_many_streams']);
    gone.abort();
    await eventually('the place to be free', async () => (await openStreams(account)) === 0);
  });

  it('counts with the bodies in memory of its account until its client goes', async () => {
    const account = await largeAccount();
    const gone = new AbortController();
    expect((await ask(account, { signal: gone.signal })).status).toBe(200);
    const submit = () => {
      const json = { workflow: GRAPH, metadata: { text: 'x'.repeat(ROOM_BYTES) } };
      return api.client(account.key).call('POST', '/api/v2/jobs', { json });
    };
    const refused = await submit();
    expect([refused.status, refused.body.error]).toEqual([429, expect.objectContaining({ code: 'rate_limited' })]);
    gone.abort();
    await eventually('the bytes to be given back', async () => (await submit()).status !== 429);
  });

  it('is refused while as many streams are open as may be; operators and HEAD take no place', async () => {
    const account = await api.account({ limits: { stream_limit: 1 } });
    const { id } = await api.client(account.key).run(GRAPH);
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${account.key}` };
    await fetch(`${api.publicUrl}/api/v2/jobs/${id}/events`, { headers, signal: gone.signal });
    const refused = await ask(account);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(refused.headers.get('content-type')).toMatch(/^application\/json/);
    expect(refused.headers.get('content-disposition')).toBeNull();
    expect(((await refused.json()) as ErrorEnvelope).error).toMatchObject({
      code: 'too_many_streams',
      message: expect.stringContaining('exports') as unknown,
    });
    const head = await ask(account, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'application/zip']);
    const own = await api.operator().call('GET', `/admin/v1/accounts/${account.id}/export`);
    expect([own.status, own.text.includes(`"account_id": "${account.id}"`)]).toEqual([200, true]);
    gone.abort();
    await eventually('the place to be free', async () => (await ask(account)).status === 200);
  });

  it('breaks off when the key that asked for it is revoked', async () => {
    const account = await largeAccount();
    const asking = await api.key(account.id);
    const response = await ask({ ...account, key: asking.key });
    expect(response.status).toBe(200);
    await api.client(account.key).call('DELETE', `/platform/v1/api-keys/${asking.keyId}`);
    await eventually('the place to be free', async () => (await openStreams(account)) === 0);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });
});
