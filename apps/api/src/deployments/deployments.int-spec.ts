import { randomUUID } from 'node:crypto';
import { CatalogueStore, WorkerStore } from '@millrace/deployments';
import { newId, type Job } from '@millrace/contracts';
import { ApiClient, eventually, type Answer } from '@millrace/testing';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

const DOMAIN = 'apps.example.test';

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open({
    MILLRACE_DEPLOYMENT_DOMAIN: DOMAIN,
    MILLRACE_PRICE_MICROS_PER_SECOND: '9',
    MILLRACE_DEMO_RATE_LIMIT_PER_MINUTE: '10',
    MILLRACE_DEMO_UPLOAD_BYTES_PER_DAY: '1000',
  });
  account = await api.account();
});
afterAll(() => api.close());

interface Deployment {
  id: string;
  state: string;
  path: string;
  host: string;
  pool: string;
  account_id: string;
  price_micros_per_second: number;
  stopped_at: string | null;
}

const post = <T = Deployment>(path: string, json?: object): Promise<Answer<T>> =>
  api.operator().call<T>('POST', `/admin/v1/deployments${path}`, { json });
async function create(more: object = {}): Promise<Deployment> {
  const { status, body } = await post('', { account_id: account.id, name: 'a test', ...more });
  expect(status).toBe(201);
  return body;
}

/** Have a deployment say that it can run pictures, and be ready. */
async function serve({ pool }: Deployment): Promise<string> {
  const workers = new WorkerStore();
  const { database } = api.test;
  const id = newId();
  await workers.register(database, { id, poolId: pool, engine: 'cpu', version: 't', host: 't', pid: 1, capacity: 1 });
  const plain = { displayName: 'Save', category: 'image', description: '', inputs: {}, outputs: [], outputNode: true };
  await new CatalogueStore().publish(database, pool, 'cpu', { SaveImage: plain });
  await workers.heartbeat(database, id, { state: 'ready', residentModels: [], problem: null });
  return id;
}

const at = ({ path }: Deployment, key: string | null = account.key): ApiClient =>
  new ApiClient(api.publicUrl + path, key);
const GRAPH = JSON.stringify({ workflow: { '1': { class_type: 'SaveImage', inputs: {} } } });

describe('a new deployment', () => {
  it('has a path, a host, a pool of its own, and the terms of the service', async () => {
    const deployment = await create();
    const { id } = deployment;
    expect(deployment).toMatchObject({
      state: 'provisioning',
      path: `/deployment/${id}`,
      host: `${id}.${DOMAIN}`,
      pool: id,
      account_id: account.id,
      price_micros_per_second: 9,
      demo: false,
      min_workers: 0,
      max_workers: 1,
    });
  });

  it('is free where it is a demo, and has a price where one is given', async () => {
    expect((await create({ demo: true })).price_micros_per_second).toBe(0);
    expect((await create({ demo: true, price_micros_per_second: 3 })).price_micros_per_second).toBe(3);
  });

  it.each([
    ['no account', { name: 'x' }, 422, 'account_id'],
    ['an account that does not exist', { account_id: newId(), name: 'x' }, 404, 'There is no account'],
    ['no name', {}, 422, 'name'],
    ['an engine that there is not', { name: 'x', engine: 'abacus' }, 422, 'engine'],
    ['fewer workers at most than at least', { name: 'x', min_workers: 3, max_workers: 2 }, 422, 'max_workers'],
    ['a price below nothing', { name: 'x', price_micros_per_second: -1 }, 422, 'price_micros_per_second'],
  ])('is refused with %s', async (what, body, status, said) => {
    const account_id = what === 'no account' ? undefined : account.id;
    const answer = await post('', { account_id, ...body });
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(said);
  });
});

describe('an operator', () => {
  it('starts and stops a deployment, and each act is recorded', async () => {
    const { id } = await create();
    expect((await post(`/${id}/stop`)).body).toMatchObject({
      state: 'stopped',
      stopped_at: expect.any(String) as string,
    });
    expect((await post(`/${id}/stop`)).body.state).toBe('stopped');
    expect((await post(`/${id}/start`)).body).toMatchObject({ state: 'provisioning', stopped_at: null });
    const log = await api
      .operator()
      .call<{ entries: { action: string; details: object }[] }>('GET', `/admin/v1/audit-log?subject_id=${id}`);
    expect(log.text).toContain(account.id);
    const entries = await api.test.database.models.auditEntry.findMany({
      where: { subjectId: id },
      orderBy: { id: 'asc' },
    });
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['deployment.create', expect.objectContaining({ name: 'a test' })],
      ['deployment.stop', { changed: true }],
      ['deployment.stop', { changed: false }],
      ['deployment.start', { changed: true }],
    ]);
  });

  it('who starts and stops at once ends with one of the two', async () => {
    const { id } = await create();
    await Promise.all(Array.from({ length: 8 }, (_, i) => post(`/${id}/${i % 2 === 0 ? 'stop' : 'start'}`)));
    const row = await api.test.database.models.deployment.findUniqueOrThrow({ where: { id } });
    expect(row.desiredState === 'stopped').toBe(row.stoppedAt !== null);
    const { body } = await api.operator().call<Deployment>('GET', `/admin/v1/deployments/${id}`);
    expect(body.state === 'stopped').toBe(row.desiredState === 'stopped');
  });

  it('finds no deployment that there is not', async () => {
    for (const id of [newId(), 'x']) {
      for (const verb of ['start', 'stop']) expect((await post(`/${id}/${verb}`)).status).toBe(404);
    }
  });
});

describe('an account holder', () => {
  it('sees the deployments of the account and of no other', async () => {
    const stranger = await api.account();
    const own = await create({ account_id: stranger.id, name: 'of a stranger' });
    const { body } = await api.client(stranger.key).call<{ deployments: object[] }>('GET', '/platform/v1/deployments');
    expect(body.deployments).toEqual([expect.objectContaining({ id: own.id, name: 'of a stranger' })]);
    expect(body.deployments[0]).not.toHaveProperty('account_id');
    const foreign = await api.client(account.key).call('GET', `/platform/v1/deployments/${own.id}`);
    expect(foreign.status).toBe(404);
  });
});

describe('a submission to a deployment', () => {
  it('is accepted while it is ready, and finds its key used in any later state of the deployment', async () => {
    const deployment = await create();
    const headers = { 'Idempotency-Key': randomUUID() };
    const early = await at(deployment).call('POST', '/api/v2/jobs', { text: GRAPH, headers });
    expect([early.status, early.body.error.code, early.headers['retry-after']]).toEqual([
      429,
      'deployment_not_ready',
      '10',
    ]);
    await serve(deployment);
    expect((await at(deployment).submit(GRAPH, headers)).status).toBe(201);
    await post(`/${deployment.id}/stop`);
    const again = await at(deployment).call('POST', '/api/v2/jobs', { text: GRAPH, headers });
    expect([again.status, again.body.error.code]).toEqual([422, 'idempotency_key_reuse']);
    const stopped = await at(deployment).call('POST', '/api/v2/jobs', { text: GRAPH });
    expect([stopped.status, stopped.body.error.code]).toEqual([422, 'deployment_stopped']);
  });

  it('is held to the limit of the deployment', async () => {
    const deployment = await create({ queue_limit: 1 });
    await serve(deployment);
    expect((await at(deployment).submit(GRAPH)).status).toBe(201);
    // How full a pool is is looked up twice a second.
    await eventually('the queue to be full', async () => {
      const { body, text } = await at(deployment).call('POST', '/api/v2/jobs', { text: GRAPH });
      return body.error?.code === 'queue_full' && text.includes('The queue of this service is full.');
    });
  });

  it('waits when the deployment is stopped, and can be canceled and read meanwhile', async () => {
    const deployment = await create();
    await serve(deployment);
    const client = at(deployment);
    const { body: job } = await client.submit(GRAPH);
    await post(`/${deployment.id}/stop`);
    expect((await client.job(job.id)).status).toBe('queued');
    const canceled = await client.call<Job>('POST', `/api/v2/jobs/${job.id}/cancel`);
    expect(canceled.body.status).toBe('canceled');
    const logs = await client.call('GET', `/api/v2/jobs/${job.id}/logs`);
    expect(logs.body).toMatchObject({ text: '', truncated: false, complete: true });
    expect(await client.job(job.id)).toMatchObject({ logs: { text: '', truncated: false } });
  });

  it('is refused for want of a credential as anywhere, also where there is no deployment', async () => {
    const deployment = await create();
    for (const path of [deployment.path, `/deployment/${newId()}`]) {
      const { status, body } = await at({ ...deployment, path }, null).call('POST', '/api/v2/jobs', { text: GRAPH });
      expect([status, body.error.code]).toEqual([401, 'unauthorized']);
      expect((await at({ ...deployment, path }, account.key).call('GET', '/api/v2/jobs')).status).toBe(
        path === deployment.path ? 200 : 404,
      );
    }
  });
});

describe('a demo deployment', () => {
  it('limits what its callers send by their address, and what they upload together', async () => {
    const demo = await create({ demo: true });
    const client = at(demo, null);
    const upload = (bytes: number): ReturnType<ApiClient['upload']> =>
      client.upload(Buffer.alloc(bytes, randomUUID()), { content_type: 'text/plain', file_path: 'a.txt' });
    expect((await upload(600)).status).toBe(201);
    expect((await upload(600)).status).toBe(429);
    const seen = new Set<number>();
    for (let i = 0; i < 12; i += 1) seen.add((await client.call('GET', '/api/v2/jobs')).status);
    expect([...seen].sort()).toEqual([403, 429]);
  });
});

describe('logs', () => {
  it('are nowhere on the cloud surface', async () => {
    const shared = { pool: api.env.MILLRACE_POOL ?? '' } as Deployment;
    await api.test.database.models.pool.create({ data: { id: shared.pool, engine: 'cpu' } });
    await serve(shared);
    const client = api.client(account.key);
    const { body: job } = await client.submit(GRAPH);
    expect(job.urls).not.toHaveProperty('logs');
    await client.call('POST', `/api/v2/jobs/${job.id}/cancel`);
    expect(await client.job(job.id)).not.toHaveProperty('logs');
    expect((await client.call('GET', `/api/v2/jobs/${job.id}/logs`)).status).toBe(204);
    expect((await client.call('GET', `/api/v2/jobs/${newId()}/logs`)).status).toBe(404);
  });
});
