import { Comfy } from '@comfyorg/sdk';
import type { CapturedLogs, Job, JobPage } from '@millrace/contracts';
import { ApiClient, TestStack, eventually, type TestAccount } from '@millrace/testing';

const DOMAIN = 'apps.example.test';
/** Requests a minute of one address; all that a test of demos sends from its own is less. */
const DEMO_LIMIT = 40;

let stack: TestStack;
let account: TestAccount;
/** One that is ready, for tests that only use it. */
let served: Deployment;
beforeAll(async () => {
  const settings = {
    MILLRACE_DEPLOYMENT_DOMAIN: DOMAIN,
    MILLRACE_TRUSTED_PROXIES: '1',
    MILLRACE_DEMO_RATE_LIMIT_PER_MINUTE: String(DEMO_LIMIT),
  };
  stack = await TestStack.start({ workers: 0, settings });
  account = await stack.createAccount();
  served = await create();
  await serve(served);
  await becomes(served, 'ready');
});
afterAll(() => stack.stop());

const anything = expect.anything() as unknown;

interface Deployment {
  id: string;
  state: string;
  path: string;
  host: string;
  pool: string;
}

const create = (more: object = {}): Promise<Deployment> =>
  stack.admin<Deployment>('POST', '/deployments', { account_id: account.id, name: 'a test', ...more });
const clientOf = ({ path }: Deployment, key: string | null = account.apiKey): ApiClient =>
  new ApiClient(stack.publicUrl + path, key);
const serve = ({ pool }: Deployment): ReturnType<TestStack['addWorker']> => stack.addWorker({ MILLRACE_POOL: pool });

const stateOf = async ({ id }: Deployment): Promise<string> => {
  const platform = new ApiClient(stack.publicUrl, account.apiKey);
  return (await platform.call<Deployment>('GET', `/platform/v1/deployments/${id}`)).body.state;
};
const becomes = (deployment: Deployment, state: string): Promise<boolean> =>
  eventually(`the deployment to be ${state}`, async () => (await stateOf(deployment)) === state);

/** A picture, drawn at once or for as long as `steps` take. */
const graph = (steps = 10): Record<string, { class_type: string; inputs: Record<string, unknown> }> => ({
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 64, height: 64, steps, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
});
const SHORT = JSON.stringify({ workflow: graph() });

async function expectNotReady(client: ApiClient): Promise<void> {
  const { status, body, headers } = await client.call('POST', '/api/v2/jobs', { text: SHORT });
  expect([status, body.error.code]).toEqual([429, 'deployment_not_ready']);
  const seconds = Number(headers['retry-after']);
  expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 30).toBe(true);
  const estimate = await client.call('POST', '/platform/v1/estimates', { text: SHORT });
  expect(estimate.body).toMatchObject({ accepted: false, error: { code: 'deployment_not_ready' } });
}

const pending = async ({ pool }: Deployment): Promise<string | undefined> => {
  const text = await (await fetch(`${stack.maintenance.opsUrl}/metrics`)).text();
  return text.split('\n').find((line) => line.startsWith(`millrace_pool_pending_jobs{pool="${pool}"`));
};

describe('a deployment', () => {
  it('is provisioned, ready, without workers, stopped and started again, and says so as the contract does', async () => {
    const deployment = await create();
    const client = clientOf(deployment);
    expect(deployment).toMatchObject({ state: 'provisioning', path: `/deployment/${deployment.id}` });
    await expectNotReady(client);
    await eventually('a worker to be asked for', async () => (await pending(deployment))?.endsWith(' 1'));

    // The official client waits until it is ready, and then runs.
    process.env.COMFY_BASE_URL = stack.publicUrl + deployment.path;
    const official = new Comfy({ apiKey: account.apiKey });
    const [done, worker] = await Promise.all([official.run(official.workflows.fromJson(graph())), serve(deployment)]);
    expect(done.status).toBe('succeeded');
    await becomes(deployment, 'ready');

    const { id } = await client.run(graph(100_000));
    await eventually('the job to run', async () => (await client.job(id)).status === 'running');
    await worker.end('SIGKILL');
    await becomes(deployment, 'starting');
    await expectNotReady(client);
    expect((await client.job(id)).status).toBe('running');

    expect(await stack.admin('POST', `/deployments/${deployment.id}/stop`)).toMatchObject({ state: 'stopped' });
    const refused = await client.call('POST', '/api/v2/jobs', { text: SHORT });
    expect([refused.status, refused.body.error.code]).toEqual([422, 'deployment_stopped']);
    expect(refused.headers['retry-after']).toBeUndefined();
    expect((await client.job(done.id)).outputs).toHaveLength(1);

    expect(await stack.admin('POST', `/deployments/${deployment.id}/start`)).toMatchObject({ state: 'starting' });
    await expectNotReady(client);
    await serve(deployment);
    await becomes(deployment, 'ready');
    await eventually('the job to be taken up again', async () => {
      const attempts = await stack.test.database.models.jobAttempt.findMany({ where: { jobId: id } });
      return attempts.some(({ outcome }) => outcome === 'lost') && attempts.some(({ endedAt }) => endedAt === null);
    });
    await client.call('POST', `/api/v2/jobs/${id}/cancel`);
    expect((await client.ended(id)).status).toBe('canceled');
  });

  it('is found by its prefix and by its host, with links that fit each', async () => {
    const deployment = served;
    const byPrefix = clientOf(deployment);
    const { body: job } = await byPrefix.submit(SHORT);
    expect(job.urls.self).toBe(`${deployment.path}/api/v2/jobs/${job.id}`);
    const [output] = (await byPrefix.ended(job.id)).outputs;
    expect(new URL(output?.url ?? '').origin).toBe(stack.publicUrl);
    expect((await byPrefix.download(output?.url ?? '')).length).toBe(output?.size_bytes);
    const root = new ApiClient(stack.publicUrl, account.apiKey);
    expect((await root.call('GET', job.urls.events)).text).toMatch(/^event: status\ndata: .*"succeeded"/);

    const headers = { Host: `${deployment.host.toUpperCase()}.:8443` };
    const onHost = await root.call<Job>('GET', `/api/v2/jobs/${job.id}`, { headers });
    expect(onHost.body.urls.self).toBe(`/api/v2/jobs/${job.id}`);
    const link = new URL(onHost.body.outputs[0]?.url ?? '');
    expect(link.host).toBe(`${deployment.host}.:8443`);
    expect((await root.call('GET', link.pathname + link.search, { headers })).status).toBe(200);
    expect((await root.call('GET', `${deployment.path}/api/v2/jobs/${job.id}`, { headers })).status).toBe(404);
  });

  it('has drained and is deleted: its jobs are read at both of its addresses as before', async () => {
    const deployment = await create();
    await serve(deployment);
    await becomes(deployment, 'ready');
    const client = clientOf(deployment);
    const { id } = await client.run(graph(20_000));
    const root = new ApiClient(stack.publicUrl, account.apiKey);
    await root.call('DELETE', `/platform/v1/deployments/${deployment.id}?drain=true`);
    expect((await client.ended(id)).status).toBe('succeeded');
    await eventually('the deployment to be deleted', async () => {
      return (await root.call('GET', `/platform/v1/deployments/${deployment.id}`)).status === 404;
    });
    // Rests on a fresh reading: from then on nothing of before is cached.
    expect((await client.call('POST', '/api/v2/jobs', { text: SHORT })).status).toBe(404);
    const [output] = (await client.job(id)).outputs;
    expect((await client.download(output?.url ?? '')).length).toBe(output?.size_bytes);
    expect((await client.call('GET', `/api/v2/jobs/${id}/logs`)).status).toBe(200);
    const headers = { Host: deployment.host };
    expect((await root.call<Job>('GET', `/api/v2/jobs/${id}`, { headers })).body.outputs).toHaveLength(1);
  });

  it('has jobs that no other surface, deployment or account finds', async () => {
    const [deployment, sibling] = [served, await create()];
    const { id } = await clientOf(deployment).run(graph());
    const stranger = await stack.createAccount();
    const others = [
      new ApiClient(stack.publicUrl, account.apiKey),
      clientOf(sibling),
      clientOf(deployment, stranger.apiKey),
      clientOf({ ...deployment, path: '/deployment/0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' }),
    ];
    for (const client of others) {
      for (const [method, rest] of [
        ['GET', ''],
        ['GET', '/logs'],
        ['GET', '/events'],
        ['POST', '/cancel'],
      ] as const) {
        const { status, body } = await client.call(method, `/api/v2/jobs/${id}${rest}`);
        expect([client.base, status, body.error.code]).toEqual([client.base, 404, 'not_found']);
      }
    }
    expect((await clientOf(deployment, stranger.apiKey).call('POST', '/api/v2/jobs', { text: SHORT })).status).toBe(
      404,
    );
    expect((await clientOf(deployment, stranger.apiKey).call('GET', '/api/v2/jobs')).status).toBe(404);
    expect((await clientOf(deployment, null).call('GET', '/api/v2/jobs')).status).toBe(401);
    const listed = await clientOf(deployment).call<JobPage>('GET', '/api/v2/jobs');
    expect(listed.body.jobs[0]).toMatchObject({ id, deployment_id: deployment.id });
    const platform = new ApiClient(stack.publicUrl, stranger.apiKey);
    expect((await platform.call('GET', `/platform/v1/deployments/${deployment.id}`)).status).toBe(404);
  });

  it('keeps what jobs print, and shows it in the one answer that the contract names', async () => {
    const deployment = served;
    const client = clientOf(deployment);
    const { id, urls, ...made } = await client.run(graph());
    expect([made.logs, urls.logs]).toEqual([undefined, `${deployment.path}/api/v2/jobs/${id}/logs`]);
    const ended = await client.ended(id);
    expect(ended.logs).toMatchObject({ truncated: false });
    expect(ended.logs?.text).toContain('SaveImage');
    const own = await client.call<CapturedLogs>('GET', `/api/v2/jobs/${id}/logs`);
    expect(own.body).toEqual({ ...ended.logs, complete: true });
    expect((await client.call<Job>('POST', `/api/v2/jobs/${id}/cancel`)).body).not.toHaveProperty('logs');
    expect((await client.call<JobPage>('GET', '/api/v2/jobs')).body.jobs[0]).not.toHaveProperty('logs');
    expect((await client.call('GET', `/api/v2/jobs/${id}/events`)).text).not.toContain('"logs":{');
  });

  it('keeps the end of what a failed run printed too, shows none before the end, nor of a job whose log was never kept', async () => {
    const deployment = await create();
    await stack.addWorker({ MILLRACE_POOL: deployment.pool, MILLRACE_LOG_TAIL_BYTES: '20' });
    await becomes(deployment, 'ready');
    const client = clientOf(deployment);
    const logsOf = async (id: string): Promise<number> => (await client.call('GET', `/api/v2/jobs/${id}/logs`)).status;

    const { id } = await client.run(graph(100_000));
    await eventually('the job to run', async () => (await client.job(id)).status === 'running');
    expect([await client.job(id), await logsOf(id)]).toEqual([expect.not.objectContaining({ logs: anything }), 204]);
    await client.call('POST', `/api/v2/jobs/${id}/cancel`);
    await client.ended(id);

    const file = { content_type: 'image/png', file_path: 'broken.png' };
    const { body: input } = await client.upload(Buffer.from('\x89PNG\r\n\x1a\n no picture', 'latin1'), file);
    const broken = await client.run({
      '1': { class_type: 'LoadImage', inputs: { image: { __type: 'core/ASSET', info: { id: input.id } } } },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'never' } },
    });
    const failed = await client.ended(broken.id);
    expect(failed).toMatchObject({ status: 'failed', logs: { truncated: true } });
    expect(Buffer.byteLength(failed.logs?.text ?? '').toString()).toMatch(/^(1\d|20)$/);

    await stack.test.database.models.jobLog.delete({ where: { jobId: broken.id } });
    expect([await client.job(broken.id), await logsOf(broken.id)]).toEqual([
      expect.not.objectContaining({ logs: anything }),
      204,
    ]);
  });
});

describe('a demo deployment', () => {
  it('admits everyone, charges nobody, lists nothing, and withholds what it keeps of logs', async () => {
    const deployment = await create({ demo: true });
    await serve(deployment);
    await becomes(deployment, 'ready');
    for (const key of [null, account.apiKey, 'mr_live_nonsense']) {
      const client = clientOf(deployment, key);
      const job = await client.run(graph());
      expect(job.urls).not.toHaveProperty('logs');
      const ended = await client.ended(job.id);
      expect(ended).toMatchObject({ status: 'succeeded', metrics: { charged_micros: 0 } });
      expect(ended).not.toHaveProperty('logs');
      expect((await client.call('GET', `/api/v2/jobs/${job.id}/logs`)).status).toBe(204);
      const kept = await stack.test.database.models.jobLog.findUniqueOrThrow({ where: { jobId: job.id } });
      expect(kept.text).toContain('SaveImage');
      const list = await client.call('GET', '/api/v2/jobs');
      expect([list.status, list.body.error.code]).toEqual([403, 'forbidden']);
    }
    const own = new ApiClient(stack.publicUrl, account.apiKey);
    expect((await own.call<JobPage>('GET', '/api/v2/jobs')).body.jobs).toEqual([]);
  });
});

describe('a demo deployment, asked too much or of a suspended account,', () => {
  const list = (deployment: Deployment, address: string) =>
    clientOf(deployment, null).call('GET', '/api/v2/jobs', { headers: { 'X-Forwarded-For': address } });

  it('limits each address by itself, and answers what is left and when to come again', async () => {
    const deployment = await create({ demo: true });
    const beganMs = performance.now();
    const burst = await Promise.all(Array.from({ length: DEMO_LIMIT + 20 }, () => list(deployment, '203.0.113.7')));
    const refused = burst.filter(({ status }) => status === 429);
    const passed = burst.length - refused.length;
    expect(refused.length).toBeGreaterThan(0);
    // The minute slides: a burst that takes longer may be larger.
    expect(passed).toBeLessThanOrEqual(DEMO_LIMIT * (1 + (performance.now() - beganMs) / 60_000));
    expect(passed).toBeGreaterThanOrEqual(DEMO_LIMIT / 2);
    for (const { body, headers } of refused) {
      expect([body.error.code, Number(headers['retry-after']) >= 1]).toEqual(['rate_limited', true]);
      expect(headers['ratelimit-policy']).toBe(`"requests";q=${DEMO_LIMIT};w=60`);
    }
    // A demo lists nothing; this one was not refused for asking too much.
    expect((await list(deployment, '203.0.113.8')).status).toBe(403);
  });

  it('serves nobody while its account is suspended, and says why', async () => {
    const owner = await stack.createAccount();
    const deployment = await create({ demo: true, account_id: owner.id });
    let asked = 0;
    // Each time from another address, so that asking often is not what is refused.
    const refusalOf = async (method: string, path: string) => {
      const headers = { 'X-Forwarded-For': `198.51.100.${(asked += 1)}` };
      const text = method === 'POST' ? SHORT : undefined;
      const { status, body } = await clientOf(deployment, null).call(method, path, { text, headers });
      return [status, body.error.code, body.error.message];
    };
    const answers = (code: string): Promise<boolean> =>
      eventually(`the answer to be ${code}`, async () => (await refusalOf('POST', '/api/v2/jobs'))[1] === code);
    await answers('deployment_not_ready');
    await stack.admin('PATCH', `/accounts/${owner.id}`, { status: 'suspended' });
    await answers('forbidden');
    const refused = [403, 'forbidden', expect.stringContaining('is suspended') as string];
    expect(await refusalOf('POST', '/api/v2/jobs')).toEqual(refused);
    expect(await refusalOf('GET', `/api/v2/jobs/${owner.id}`)).toEqual(refused);
    await stack.admin('PATCH', `/accounts/${owner.id}`, { status: 'active' });
    await answers('deployment_not_ready');
  });
});

describe('the official client', () => {
  it('runs a graph on the host of a deployment', async () => {
    // No name server knows this host: a proxy sends it on.
    process.env.COMFY_BASE_URL = `http://${served.host}`;
    const client = new Comfy({ apiKey: account.apiKey, fetch: fetchByHost });
    const job = await client.run(client.workflows.fromJson(graph()));
    const bytes = await job.outputs[0]?.toBytes();
    expect(
      Buffer.from(bytes ?? [])
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });
});

/** What a proxy in front of the service does, and a client that follows redirects. */
const fetchByHost: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const { host, pathname, search } = new URL(request.url);
  const headers = new Headers(request.headers);
  headers.set('x-forwarded-host', host);
  const there = new URL(pathname + search, stack.publicUrl);
  const response = await fetch(there, { ...init, method: request.method, headers, redirect: 'manual' });
  const location = response.headers.get('location');
  return location === null ? response : fetchByHost(location);
};
