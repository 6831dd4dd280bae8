import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { CatalogueStore } from '@millrace/deployments';
import { eventually } from '@millrace/testing';
import { SignedInBrowser } from '../fixtures/browser';
import { join } from '../fixtures/members';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

/** Within this a stream must have ended, on every process (docs/security.md). */
const ENDED_WITHIN_MS = 5_000;
const GRAPH = '{"workflow":{"1":{"class_type":"SaveImage","inputs":{}}}}';

let first: RunningApi;
let second: RunningApi;
beforeAll(async () => {
  // No process of this test sends mail.
  first = await RunningApi.open({ MILLRACE_MAIL_FOLDER: '/nonexistent' });
  second = await RunningApi.open(first.env as Record<string, string>);
  const pool = first.env.MILLRACE_POOL ?? '';
  const { database } = first.test;
  await database.models.pool.create({ data: { id: pool, engine: 'cpu' } });
  const plain = { displayName: 'Save', category: 'image', description: '', inputs: {}, outputs: [], outputNode: true };
  await new CatalogueStore().publish(database, pool, 'cpu', { SaveImage: plain });
});
afterAll(async () => {
  await second.close();
  await first.close();
});

/** Open the stream of a waiting job. */
async function open(api: RunningApi, key: string, jobId: string): Promise<IncomingMessage> {
  return openWith(api, { authorization: `Bearer ${key}` }, `/api/v2/jobs/${jobId}/events`);
}

async function openWith(api: RunningApi, headers: Record<string, string>, path: string): Promise<IncomingMessage> {
  const request = get(api.publicUrl + path, { agent: false, headers });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response.resume();
}

async function waitingJob({ key }: Pick<TestAccount, 'key'>): Promise<string> {
  const { status, body } = await first.client(key).submit(GRAPH);
  expect(status).toBe(201);
  return body.id;
}

/** Milliseconds until a stream ends after an act. */
async function endsAfter(stream: IncomingMessage, act: Promise<unknown>): Promise<number> {
  const since = performance.now();
  await Promise.all([once(stream, 'end', { signal: AbortSignal.timeout(4 * ENDED_WITHIN_MS) }), act]);
  return performance.now() - since;
}

it('a stream ends soon after its key is revoked on another process, and those of other keys go on', async () => {
  const account = await first.account();
  const { key, keyId } = await first.key(account.id);
  const id = await waitingJob(account);
  const [revoked, other] = [await open(first, key, id), await open(first, account.key, id)];
  const revoke = second.operator().call('DELETE', `/admin/v1/accounts/${account.id}/api-keys/${keyId}`);
  expect(await endsAfter(revoked, revoke)).toBeLessThan(ENDED_WITHIN_MS);
  expect(other.readableEnded).toBe(false);
  other.destroy();
});

it('the streams of a member end soon after their role no longer lets them read jobs, those of a session and of a key', async () => {
  const account = await first.account();
  const bob = await join(first, account, 'developer', 'bob@example.com');
  const browser = new SignedInBrowser(first.client(null), bob.session);
  const made = await browser.call<{ key: string }>('POST', '/platform/v1/api-keys', { json: { name: 'of bob' } });
  const id = await waitingJob(account);
  const batch = { json: { jobs: [JSON.parse(GRAPH) as object] } };
  const { body } = await first.client(account.key).call<{ id: string }>('POST', '/api/v2/batches', batch);
  const cookie = { cookie: `millrace_session=${bob.session}` };
  const streams = [
    await open(first, made.body.key, id),
    await openWith(first, cookie, `/api/v2/jobs/${id}/events`),
    await openWith(first, cookie, `/api/v2/batches/${body.id}/events`),
  ];
  expect(streams.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  const others = await open(first, account.key, id);
  const turn = (role: string) =>
    second.client(account.key).call('PATCH', `/platform/v1/members/${bob.id}`, { json: { role } });
  expect((await turn('viewer')).status).toBe(200);
  const lowered = turn('finance');
  for (const ended of await Promise.all(streams.map((stream) => endsAfter(stream, lowered)))) {
    expect(ended).toBeLessThan(ENDED_WITHIN_MS);
  }
  expect(others.readableEnded).toBe(false);
  others.destroy();
});

it('all streams of an account end soon after it is suspended on another process', async () => {
  const account = await first.account();
  const stream = await open(first, account.key, await waitingJob(account));
  const suspend = second
    .operator()
    .call('PATCH', `/admin/v1/accounts/${account.id}`, { json: { status: 'suspended' } });
  expect(await endsAfter(stream, suspend)).toBeLessThan(ENDED_WITHIN_MS);
});

it('the links of a suspended account lead nowhere', async () => {
  const account = await first.account();
  const client = first.client(account.key);
  const asset = (await client.upload(Buffer.from('some bytes'), { content_type: 'text/plain', file_path: 'a.txt' }))
    .body;
  const status = async (): Promise<number> => (await fetch(asset.url)).status;
  expect(await status()).toBe(200);
  await second.operator().call('PATCH', `/admin/v1/accounts/${account.id}`, { json: { status: 'suspended' } });
  await eventually('the link to be refused', async () => (await status()) === 403, ENDED_WITHIN_MS);
});

it('the streams of an account are limited over all processes, and shown so', async () => {
  const account = await first.account({ limits: { stream_limit: 2 } });
  const id = await waitingJob(account);
  const streams = [await open(first, account.key, id), await open(second, account.key, id)];
  for (const api of [first, second]) {
    expect((await api.client(account.key).call('GET', `/api/v2/jobs/${id}/events`)).body.error.code).toBe(
      'too_many_streams',
    );
    const { body } = await api.client(account.key).call<object>('GET', '/platform/v1/account');
    expect(body).toMatchObject({ use: { event_streams: 2 } });
  }
  streams[0]?.destroy();
  const third = await openWhenFree(second, account.key, id);
  expect(third.statusCode).toBe(200);
  third.destroy();
  streams[1]?.destroy();
});

/** The place of a client that went away is free as soon as its process has seen that. */
async function openWhenFree(api: RunningApi, key: string, id: string): Promise<IncomingMessage> {
  for (;;) {
    const response = await open(api, key, id);
    if (response.statusCode !== 429) return response;
  }
}
