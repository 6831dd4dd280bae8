import { CatalogueStore } from '@millrace/deployments';
import type { Job } from '@millrace/contracts';
import type { ApiClient } from '@millrace/testing';
import { RunningApi } from '../fixtures/running-api';

const TOKEN = 'the-one-token';
const GRAPH = '{"workflow":{"1":{"class_type":"SaveImage","inputs":{}}}}';

let open: RunningApi;
let closed: RunningApi;
beforeAll(async () => {
  open = await RunningApi.open({ MILLRACE_SURFACE: 'self_hosted' });
  closed = await RunningApi.open({ MILLRACE_SURFACE: 'self_hosted', MILLRACE_TOKEN: TOKEN });
});
afterAll(() => Promise.all([open.close(), closed.close()]));

/** A job of the surface that has ended. */
async function canceledJob(client: ApiClient): Promise<Job> {
  const pool = open.env.MILLRACE_POOL ?? '';
  const { database } = open.test;
  await database.models.pool.create({ data: { id: pool, engine: 'cpu' } });
  const plain = { displayName: 'Save', category: 'image', description: '', inputs: {}, outputs: [], outputNode: true };
  await new CatalogueStore().publish(database, pool, 'cpu', { SaveImage: plain });
  const { status, body } = await client.submit(GRAPH);
  expect(status).toBe(201);
  return (await client.call<Job>('POST', body.urls.cancel)).body;
}

describe('the self-hosted surface', () => {
  it('asks for no credential, knows no money, and keeps no logs', async () => {
    const client = open.client(null);
    const { id } = await canceledJob(client);
    const job = await client.job(id);
    expect(job).toMatchObject({ id, status: 'canceled' });
    expect(job.urls).not.toHaveProperty('logs');
    expect(job).not.toHaveProperty('logs');
    expect(job.metrics).not.toHaveProperty('charged_micros');
    expect((await client.call('GET', `/api/v2/jobs/${id}/logs`)).status).toBe(204);
    expect((await open.test.database.models.job.findUniqueOrThrow({ where: { id } })).heldMicros).toBe(0n);
    expect(await open.test.database.models.jobLog.count()).toBe(0);
  });

  it('looks at no credential where it has none of its own', async () => {
    expect((await open.client('any-token').call('GET', '/api/v2/jobs')).status).toBe(200);
  });

  it('admits its one token, where it has one, and nobody else', async () => {
    expect((await closed.client(TOKEN).call('GET', '/api/v2/jobs')).status).toBe(200);
    for (const other of [null, `${TOKEN}x`, 'mr_live_nonsense']) {
      const { status, body, headers } = await closed.client(other).call('GET', '/api/v2/jobs');
      expect([status, body.error.code, headers['www-authenticate']]).toEqual([401, 'unauthorized', 'Bearer']);
    }
  });

  it('answers only to hosts and pages of its own while it is open, and says what to set', async () => {
    const status = async (api: RunningApi, headers: Record<string, string>, key: string | null = null) =>
      (await api.client(key).call('POST', '/api/v2/jobs', { json: {}, headers })).status;
    const rebound = await open.client(null).call('GET', '/api/v2/jobs', { headers: { Host: 'evil.test' } });
    expect([rebound.status, rebound.body.error.code]).toEqual([403, 'forbidden']);
    expect(rebound.body.error.message).toContain('MILLRACE_PUBLIC_URL');
    expect(await status(open, { Origin: 'https://evil.test' })).toBe(403);
    expect(await status(open, { Origin: open.publicUrl })).not.toBe(403);
    expect(await status(closed, { Host: 'evil.test', Origin: 'https://evil.test' }, TOKEN)).not.toBe(403);
  });

  it('puts no foreign host into a link', async () => {
    const file = { content_type: 'text/plain', file_path: 'a.txt' };
    const { body } = await closed.client(TOKEN).upload(Buffer.from('bytes'), file, { Host: 'evil.test' });
    expect(new URL(body.url).origin).toBe(closed.publicUrl);
  });

  it('lends its openness to no deployment', async () => {
    const { id } = await open.account();
    const made = await open
      .operator()
      .call<{ path: string }>('POST', '/admin/v1/deployments', { json: { account_id: id, name: 'a test' } });
    const { status } = await open.client(null).call('GET', `${made.body.path}/api/v2/jobs`);
    expect(status).toBe(401);
  });
});
