import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ErrorEnvelope, Job } from '@millrace/contracts';
import { eventually, type Answer } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi } from '../fixtures/running-api';

const JOBS = '/api/v2/jobs';
/** Of all, and of one account. */
const [ALL_BYTES, ACCOUNT_BYTES] = [1_048_576, 524_288];
/** Eight of them are all that there is. */
const BODY_BYTES = 131_072;

let api: RunningApi;
beforeAll(async () => {
  api = await RunningApi.open({
    MILLRACE_TRUSTED_PROXIES: '1',
    MILLRACE_BODY_BYTES_IN_FLIGHT: String(ALL_BYTES),
    MILLRACE_BODY_BYTES_IN_FLIGHT_PER_ACCOUNT: String(ACCOUNT_BYTES),
  });
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
afterAll(() => api.close());

let open: ClientRequest[] = [];
afterEach(() => {
  for (const each of open) each.destroy();
  open = [];
});

/** Send bodies of which the last byte never comes, one after the other, until the caller may have no more of them. */
async function takeShare(path: string, caller: Record<string, string>): Promise<void> {
  let refused: string | undefined;
  await eventually('one is refused', () => {
    if (refused !== undefined || open.length > 40) return refused;
    const sending = request(`${api.publicUrl}${path}`, {
      method: 'POST',
      agent: false,
      headers: { ...caller, 'content-type': 'application/json', 'content-length': String(BODY_BYTES) },
    });
    sending.on('error', () => undefined);
    sending.on('response', (answer: IncomingMessage) => void text(answer).then((body) => (refused ??= body)));
    sending.write(' '.repeat(BODY_BYTES - 1));
    open.push(sending);
    return undefined;
  });
  expect(refused).toContain('that are being processed');
}

const codeOf = ({ body }: Answer<unknown>): string | undefined => (body as Partial<ErrorEnvelope>).error?.code;
const submit = (key: string, bytes = 0): Promise<Answer<unknown>> =>
  api.client(key).call('POST', JOBS, { json: { workflow: GRAPH, padding: 'x'.repeat(bytes) } });

it('accounts that take all that they can leave room for the next, for operators and for who has none', async () => {
  for (let nth = 0; nth < 3; nth += 1) {
    await takeShare(JOBS, { authorization: `Bearer ${(await api.account()).key}` });
  }
  const { id, key } = await api.account();
  expect((await submit(key)).status).toBe(201);
  expect((await submit(key, 100_000)).status).toBe(201);
  const mail = await api.client(null).call('POST', '/platform/v1/sessions/mails', { json: {} });
  expect(codeOf(mail)).toBe('invalid_request');
  const renamed = { json: { name: 'x'.repeat(100) } };
  expect((await api.operator().call('PATCH', `/admin/v1/accounts/${id}`, renamed)).status).toBe(200);
});

it('callers of a demo together take no more than an account may, and leave room for each other', async () => {
  const owner = await api.account();
  const { body } = await api.operator().call<{ path: string }>('POST', '/admin/v1/deployments', {
    json: { account_id: owner.id, name: 'a demo', demo: true },
  });
  const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
  for (const nth of [1, 2, 3]) await takeShare(body.path + JOBS, from(`198.51.100.${nth}`));
  const small = { json: { workflow: GRAPH }, headers: from('198.51.100.4') };
  expect(codeOf(await api.client(null).call('POST', body.path + JOBS, small))).toBe('deployment_not_ready');
  expect((await submit(owner.key, ALL_BYTES - ACCOUNT_BYTES - 1_000)).status).toBe(201);
});

it('accounts that take all that they can refuse no poll of a job, nor its canceling', async () => {
  const { key } = await api.account();
  const { body: job } = await api.client(key).call<Job>('POST', JOBS, { json: { workflow: GRAPH } });
  const metadata = { text: 'x'.repeat(300_000) };
  await api.test.database.models.job.update({ where: { id: job.id }, data: { metadata } });
  for (let nth = 0; nth < 3; nth += 1) {
    await takeShare(JOBS, { authorization: `Bearer ${(await api.account()).key}` });
  }
  for (const [method, path] of [
    ['GET', job.urls.self],
    ['POST', job.urls.cancel],
  ] as const) {
    const answer = await api.client(key).call(method, path);
    expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ id: job.id, metadata })]);
  }
});
