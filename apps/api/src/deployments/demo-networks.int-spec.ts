import { inspect } from 'node:util';
import { randomBytes } from 'node:crypto';
import { get, type ClientRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { Asset, Job } from '@millrace/contracts';
import { ApiClient, type Answer } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi } from '../fixtures/running-api';

const RETENTION_SECONDS = 3_600;
const FILE_BYTES = 10_000;

let api: RunningApi;
let demo: { id: string; path: string; pool: string };
/** Addresses that no other test of this file uses. */
let addresses = 0;
let a: string;
let b: string;
beforeAll(async () => {
  api = await RunningApi.open({
    MILLRACE_TRUSTED_PROXIES: '1',
    MILLRACE_DEMO_QUEUE_LIMIT: '3',
    MILLRACE_DEMO_RUNNING_LIMIT: '1',
    MILLRACE_DEMO_STREAM_LIMIT: '2',
    MILLRACE_DEMO_STORAGE_BYTES: '45000',
    MILLRACE_DEMO_NETWORK_UPLOAD_BYTES_PER_DAY: '35000',
    MILLRACE_DEMO_UPLOAD_BYTES_PER_DAY: '1000000',
    MILLRACE_DEMO_RETENTION_SECONDS: String(RETENTION_SECONDS),
  });
  demo = await createDemo();
});
afterAll(() => api.close());
beforeEach(() => {
  a = `198.51.100.${(addresses += 1)}`;
  b = `198.51.100.${(addresses += 1)}`;
});

async function createDemo(): Promise<typeof demo> {
  const owner = await api.account();
  const { body } = await api.operator().call<typeof demo>('POST', '/admin/v1/deployments', {
    json: { account_id: owner.id, name: 'a demo', demo: true },
  });
  await announceCatalogue(api, body.pool);
  await api.test.database.models.deployment.update({ where: { id: body.id }, data: { firstReadyAt: new Date() } });
  await api.test.database.models.worker.create({
    data: {
      id: body.id,
      poolId: body.pool,
      engine: 'cpu',
      version: 't',
      host: 't',
      pid: 1,
      state: 'ready',
      readyAt: new Date(),
      // No worker reports here: it counts as alive for as long as the test may take.
      lastSeenAt: new Date(Date.now() + 3_600_000),
    },
  });
  return body;
}

const client = (): ApiClient => new ApiClient(api.publicUrl + demo.path, null);
const from = (address: string): Record<string, string> => ({ 'X-Forwarded-For': address });
const call = <T = unknown>(address: string, method: string, path: string, json?: object): Promise<Answer<T>> =>
  client().call<T>(method, path, { headers: from(address), ...(json === undefined ? {} : { json }) });
const upload = (address: string, bytes = randomBytes(FILE_BYTES), more = {}): Promise<Answer<Asset>> =>
  client().upload(bytes, { content_type: 'text/plain', file_path: 'a.txt', ...more }, from(address));
const submit = (address: string, workflow: object = GRAPH): Promise<Answer<Job>> =>
  call<Job>(address, 'POST', '/api/v2/jobs', { workflow });
const codeOf = ({ body }: Answer<unknown>): unknown => (body as { error?: { code: string } }).error?.code;

describe('a network at a demo deployment', () => {
  it("does not reach another's asset by id, by hash or by equal bytes, nor deletes it", async () => {
    const bytes = randomBytes(FILE_BYTES);
    const { body: asset } = await upload(b, bytes);
    const path = `/api/v2/assets/${asset.id}`;
    expect((await call(a, 'GET', path)).status).toBe(404);
    expect((await call(a, 'GET', `${path}/content`)).status).toBe(404);
    expect((await call(a, 'DELETE', path)).status).toBe(404);
    expect((await call(a, 'HEAD', `/api/v2/assets/by-hash/${asset.hash}`)).status).toBe(404);
    expect(codeOf(await call(a, 'POST', '/api/v2/assets/from-hash', { hash: asset.hash }))).toBe('blob_not_found');
    const image = { __type: 'core/ASSET', info: { id: asset.id } };
    const asInput = {
      ...GRAPH,
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: image } },
    };
    expect(codeOf(await submit(a, asInput))).toBe('missing_asset');
    expect((await upload(a, bytes)).status).toBe(201);
    expect((await call(b, 'GET', path)).status).toBe(200);
    expect((await upload(b, bytes)).status).toBe(200);
    expect((await call(b, 'DELETE', path)).status).toBe(204);
  });

  it('lists neither jobs nor assets: those behind one address would see those of each other', async () => {
    await upload(a);
    for (const path of ['/api/v2/jobs', '/api/v2/assets', '/api/v2/assets?kind=output']) {
      const answer = await call(a, 'GET', path);
      expect([answer.status, codeOf(answer)]).toEqual([403, 'forbidden']);
    }
  });

  it('is shown ways to go on under a used key that there are, for a job and for an upload', async () => {
    const headers = { ...from(a), 'Idempotency-Key': 'of a demo' };
    const run = (): Promise<Answer<unknown>> =>
      client().call('POST', '/api/v2/jobs', { headers, json: { workflow: GRAPH } });
    expect((await run()).status).toBe(201);
    const again = await run();
    expect([codeOf(again), again.text]).toEqual(['idempotency_key_reuse', expect.stringContaining('use a new key')]);
    expect(again.text).not.toContain('among your jobs');
    // Also what fails before it is a submission.
    const unread = await client().call('POST', '/api/v2/jobs', { headers: { ...headers, 'Millrace-Retry': '?' } });
    expect(unread.text.replace(/"request_id.*/, '')).toBe(again.text.replace(/"request_id.*/, ''));

    const bytes = randomBytes(FILE_BYTES);
    const fields = { content_type: 'text/plain', file_path: 'a.txt' };
    const { body: asset } = await client().upload(bytes, fields, headers);
    const repeated = await client().upload(bytes, fields, headers);
    expect([codeOf(repeated), repeated.text]).toEqual([
      'idempotency_key_reuse',
      expect.stringContaining('POST /api/v2/assets/from-hash'),
    ]);
    const found = await call<Asset>(a, 'POST', '/api/v2/assets/from-hash', { hash: asset.hash, file_path: 'a.txt' });
    expect([found.status, found.body.id]).toEqual([200, asset.id]);
  });

  it("does not see or cancel another's job", async () => {
    const { status, body: job } = await submit(b);
    expect(status).toBe(201);
    for (const rest of ['', '/workflow', '/events', '/logs', '/nodes']) {
      expect((await call(a, 'GET', `/api/v2/jobs/${job.id}${rest}`)).status).toBe(404);
    }
    expect((await call(a, 'POST', `/api/v2/jobs/${job.id}/cancel`)).status).toBe(404);
    expect((await call<Job>(b, 'GET', `/api/v2/jobs/${job.id}`)).body.status).toBe('queued');
  });

  it('fills its own share of the queue, and no more', async () => {
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => submit(a)))).map(({ status }) => status);
    const accepted = statuses.filter((status) => status === 201).length;
    // Three wait. One more is accepted where the first has left the queue for the lane meanwhile.
    expect([3, 4]).toContain(accepted);
    expect(statuses.filter((status) => status === 429)).toHaveLength(8 - accepted);
    const { status, body } = await submit(b);
    expect(status).toBe(201);
    // Whose turn it is goes by account (decision 4), so no network waits for the jobs of another.
    const { accountId } = await api.test.database.models.job.findUniqueOrThrow({ where: { id: body.id } });
    const place = await api.test.database.models.accountQueue.findFirstOrThrow({ where: { accountId } });
    const account = await api.test.database.models.account.findUniqueOrThrow({ where: { id: accountId } });
    // The loop that follows limits reads the account: it must not give the network the service's default.
    expect([place.runningLimit, account.runningLimit]).toEqual([1, 1]);
  });

  it('opens its own share of event streams, and no more', async () => {
    const { body: own } = await submit(a);
    const { body: other } = await submit(b);
    const open = async (address: string, { id }: Job): Promise<{ status: number; request: ClientRequest }> => {
      const request = get(`${api.publicUrl}${demo.path}/api/v2/jobs/${id}/events`, { headers: from(address) });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return { status: response.statusCode ?? 0, request: request.on('error', () => undefined) };
    };
    const streams = [await open(a, own), await open(a, own), await open(a, own), await open(b, other)];
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 429, 200]);
    for (const { request } of streams) request.destroy();
  });

  it('uploads and stores its own share, and no more', async () => {
    for (let count = 0; count < 3; count++) expect((await upload(a)).status).toBe(201);
    expect(codeOf(await upload(a))).toBe('rate_limited');
    const part = { size_bytes: 20_000, content_type: 'text/plain', file_path: 'b.txt' };
    expect(codeOf(await call(b, 'POST', '/api/v2/uploads', part))).toBeUndefined();
    expect(codeOf(await call(b, 'POST', '/api/v2/uploads', part))).toBeUndefined();
    expect(codeOf(await call(b, 'POST', '/api/v2/uploads', part))).toBe('storage_full');
    expect((await upload(`198.51.100.${(addresses += 1)}`)).status).toBe(201);
  });

  it('is an address, or the first 64 bits of one', async () => {
    const { body: asset } = await upload('2001:db8:1:2::5');
    expect((await call('2001:db8:1:2:ffff::9', 'GET', `/api/v2/assets/${asset.id}`)).status).toBe(200);
    expect((await call('2001:db8:1:3::5', 'GET', `/api/v2/assets/${asset.id}`)).status).toBe(404);
  });

  it('keeps nothing for ever: its uploads and its jobs expire', async () => {
    const latest = Date.now() + (RETENTION_SECONDS + 600) * 1_000;
    const bytes = randomBytes(FILE_BYTES);
    const { body: first } = await upload(a, bytes);
    const expiries = [
      first.expires_at,
      (await upload(a, bytes, { expires_in: '604800' })).body.expires_at,
      (await call<Asset>(a, 'POST', '/api/v2/assets/from-hash', { hash: first.hash, file_path: 'c.txt' })).body
        .expires_at,
      (await call<Asset>(a, 'POST', '/api/v2/assets/from-hash', { hash: first.hash, expires_in: 604_800 })).body
        .expires_at,
      (await submit(a)).body.expires_at,
    ];
    for (const expiry of expiries) expect(new Date(expiry ?? 'never').getTime()).toBeLessThan(latest);
    const soon = await upload(a, bytes, { expires_in: '60', file_path: 'd.txt' });
    expect(new Date(soon.body.expires_at ?? 'never').getTime()).toBeLessThan(Date.now() + 600_000);
    const part = { size_bytes: 5, content_type: 'text/plain', file_path: 'e.txt' };
    const { body: begun } = await call<{ id: string }>(a, 'POST', '/api/v2/uploads', part);
    const { fields } = await api.test.database.models.resumableUpload.findUniqueOrThrow({ where: { id: begun.id } });
    expect(fields).toMatchObject({ expiresInSeconds: RETENTION_SECONDS });
  });

  it('is a pseudonym that operators are not bothered with, and another at each demo', async () => {
    await upload(a);
    const networks = (): Promise<string[]> =>
      api.test.database.models.account
        .findMany({ where: { kind: 'demo_network' } })
        .then((accounts) => accounts.map((account) => inspect(account)));
    const before = (await networks()).length;
    const elsewhere = await createDemo();
    await new ApiClient(api.publicUrl + elsewhere.path, null).upload(
      Buffer.from('x'),
      { content_type: 'text/plain', file_path: 'a.txt' },
      from(a),
    );
    const after = await networks();
    expect(after).toHaveLength(before + 1);
    expect(after.join()).not.toContain(a);
    // Reading leaves no account behind.
    await call('203.0.113.77', 'GET', `/api/v2/jobs/${demo.id}`);
    expect(await networks()).toHaveLength(before + 1);
    const listed = await api.operator().call<{ accounts: { kind: string }[] }>('GET', '/admin/v1/accounts?limit=100');
    expect(listed.body.accounts.map(({ kind }) => kind)).not.toContain('demo_network');
  });
});

it('all networks of a demo together upload so many bytes a day, and no more', async () => {
  const { models } = api.test.database;
  await upload(a);
  await models.uploadDay.updateMany({ where: { accountId: demo.id }, data: { sizeBytes: 999_999n } });
  const refused = await upload(b);
  expect([refused.status, codeOf(refused)]).toEqual([429, 'rate_limited']);
  expect(JSON.stringify(refused.body)).toContain('All callers together');
  await models.uploadDay.deleteMany({ where: { accountId: demo.id } });
  expect((await upload(b)).status).toBe(201);
});
