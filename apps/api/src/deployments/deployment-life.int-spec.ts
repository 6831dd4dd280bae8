import { Prisma } from '@prisma/client';
import { EngineClassStore, WARM_UP_BYTES, readEngineClasses } from '@millrace/deployments';
import { newId, type JobPage } from '@millrace/contracts';
import { DeleteDrainedDeploymentsLoop, DrainedDeploymentStore } from '@millrace/jobs';
import { ApiClient, eventually, type Answer } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface Deployment {
  id: string;
  state: string;
  path: string;
  pool: string;
  engine: string;
  engine_class: string;
  price_micros_per_second: number;
  min_workers: number;
  max_workers: number;
  deleting_at: string | null;
}

const CLASSES = [
  { name: 'cpu', engine: 'cpu' },
  { name: 'large-gpu', engine: 'comfyui', gpu: { kind: 'nvidia-l40s', count: 1 }, priceMicrosPerSecond: 50 },
];

let api: RunningApi;
let account: TestAccount;
let stranger: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open({
    MILLRACE_PRICE_MICROS_PER_SECOND: '9',
    MILLRACE_DEPLOYMENT_LIMIT_PER_ACCOUNT: '100',
    MILLRACE_DEPLOYMENT_WORKER_LIMIT_PER_ACCOUNT: '1000',
  });
  await offer(CLASSES);
  [account, stranger] = [await api.account(), await api.account()];
});
afterAll(() => api.close());

const offer = (classes: object[]): Promise<void> =>
  new EngineClassStore().reconcile(api.test.database, readEngineClasses(JSON.stringify({ classes })));
const own = <T = Deployment>(method: string, path: string, json?: object, by = account): Promise<Answer<T>> =>
  api.client(by.key).call<T>(method, `/platform/v1/deployments${path}`, json === undefined ? {} : { json });
const operate = <T = Deployment>(method: string, path: string, json?: object): Promise<Answer<T>> =>
  api.operator().call<T>(method, `/admin/v1/deployments${path}`, json === undefined ? {} : { json });
async function create(more: object = {}, by = account): Promise<Deployment> {
  const { status, body, text } = await own('POST', '', { name: 'a test', engine_class: 'cpu', ...more }, by);
  if (status !== 201) throw new Error(text);
  return body;
}
const at = ({ path }: Deployment): ApiClient => new ApiClient(api.publicUrl + path, account.key);
const codeOf = ({ status, body }: Answer<unknown>): unknown[] => [
  status,
  (body as { error?: { code: string } }).error?.code,
];

describe('the graph of a warm-up', () => {
  const graph = '{"1": {"class_type":"Show","inputs":{"seed":18446744073709551615,"cfg":7.0}}}';
  const stored = async (id: string): Promise<string | null> =>
    (await api.test.database.models.deployment.findUniqueOrThrow({ where: { id } })).warmUp;
  async function send(method: string, path: string, body?: string): Promise<string> {
    const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
    const response = await fetch(`${api.publicUrl}/platform/v1/deployments${path}`, { method, headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  }
  const make = async (): Promise<string> => {
    const made = await send('POST', '', `{"warm_up":null, "name":"a","engine_class":"cpu","warm_up": ${graph} }`);
    expect(made).toContain(`"warm_up":${graph}`);
    return (JSON.parse(made) as Deployment).id;
  };

  it('is kept as it was written: its numbers have all their digits', async () => {
    const id = await make();
    expect(await stored(id)).toBe(graph);
    await own('PATCH', `/${id}`, { warm_up: null });
    expect(await stored(id)).toBeNull();
    await send('PATCH', `/${id}`, `{"warm_up":${graph}}`);
    expect(await stored(id)).toBe(graph);
    await send('POST', `/${id}/versions`, `{"weight":0,"warm_up":${graph}}`);
    const { versions } = await api.test.database.models.deployment.findUniqueOrThrow({
      where: { id },
      include: { versions: true },
    });
    expect(versions.map(({ warmUp }) => warmUp)).toEqual([graph]);
  });

  it('is answered as it was written, so that a client can send what it read', async () => {
    const id = await make();
    const version = `{"weight":0,"warm_up":${graph}}`;
    const answers = {
      read: await send('GET', `/${id}`),
      listed: await send('GET', ''),
      changed: await send('PATCH', `/${id}`, '{"name":"b"}'),
      stopped: await send('POST', `/${id}/stop`),
      started: await send('POST', `/${id}/start`),
      'with another version': await send('POST', `/${id}/versions`, version),
      'its versions': await send('GET', `/${id}/versions`),
      weighed: await send('PATCH', `/${id}/versions/2`, '{"weight":40}'),
      'rolled back': await send('POST', `/${id}/rollback`),
      'of one version': await send('DELETE', `/${id}/versions/2`),
    };
    const rounded = Object.entries(answers).filter(([, text]) => !text.includes(`"warm_up":${graph}`));
    expect(rounded).toEqual([]);
    expect(JSON.parse(answers.listed)).toHaveProperty('deployments');
    expect(answers['its versions'].split(graph)).toHaveLength(3);
  });
});

describe('the size of a warm-up', () => {
  const graphOf = (bytes: number): object => ({ '1': { class_type: 'Show', inputs: { text: 'x'.repeat(bytes) } } });

  it('is what its description says, and a larger one is refused by its name', async () => {
    const most = graphOf(WARM_UP_BYTES - 100);
    const { id } = await create({ warm_up: most });
    expect((await own('PATCH', `/${id}`, { warm_up: most })).status).toBe(200);
    expect((await own('POST', `/${id}/versions`, { weight: 0, warm_up: most })).status).toBe(200);
    expect((await operate('PATCH', `/${id}`, { warm_up: most })).status).toBe(200);
    const refused = await own('PATCH', `/${id}`, { warm_up: graphOf(WARM_UP_BYTES) });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain(`warm_up: must be at most ${WARM_UP_BYTES} bytes`);
  });
});

describe('the engine classes', () => {
  it('are listed with what they cost, and those that are gone are not', async () => {
    await offer([...CLASSES, { name: 'old', engine: 'cpu' }]);
    await offer(CLASSES);
    const { body } = await api
      .client(account.key)
      .call<{ engine_classes: object[] }>('GET', '/platform/v1/engine-classes');
    expect(body.engine_classes).toEqual([
      expect.objectContaining({ name: 'cpu', engine: 'cpu', price_micros_per_second: 9, gpu: null }),
      expect.objectContaining({ name: 'large-gpu', price_micros_per_second: 50, gpu: CLASSES[1]?.gpu }),
    ]);
  });

  it('that are back are the same ones', async () => {
    await offer([{ name: 'cpu', engine: 'cpu', title: 'Small' }]);
    await offer(CLASSES);
    const rows = await api.test.database.models.engineClass.findMany({ where: { name: 'cpu' } });
    expect(rows).toEqual([expect.objectContaining({ retiredAt: null })]);
  });
});

describe('a deployment of an account', () => {
  it('runs on a class, at the price of that class', async () => {
    expect(await create({ engine_class: 'large-gpu' })).toMatchObject({
      engine: 'comfyui',
      engine_class: 'large-gpu',
      price_micros_per_second: 50,
    });
    expect((await create()).price_micros_per_second).toBe(9);
  });

  it.each([
    ['a class that there is not', { engine_class: 'gone' }, 'gone'],
    ['no class', { engine_class: undefined }, 'engine_class'],
    ['fewer workers at most than at least', { min_workers: 3, max_workers: 2 }, 'max_workers'],
    ['a field that is not known', { colour: 'red' }, 'colour'],
    ['a price of its own choice', { price_micros_per_second: 0 }, 'price_micros_per_second'],
  ])('is refused with %s', async (_what, more, said) => {
    const answer = await own('POST', '', { name: 'x', engine_class: 'cpu', ...more });
    expect(codeOf(answer)).toEqual([422, 'invalid_request']);
    expect(answer.text).toContain(said);
  });

  it('changes, with the price of its new class, and has a history', async () => {
    const { id } = await create();
    const changed = await own('PATCH', `/${id}`, { name: 'other', engine_class: 'large-gpu', max_workers: 3 });
    expect(changed.body).toMatchObject({ name: 'other', price_micros_per_second: 50, max_workers: 3 });
    expect(codeOf(await own('PATCH', `/${id}`, { min_workers: 4 }))).toEqual([422, 'invalid_request']);
    expect(codeOf(await own('PATCH', `/${id}`, { engine_class: 'gone' }))).toEqual([422, 'invalid_request']);
    expect(codeOf(await own('PATCH', `/${id}`, { demo: true }))).toEqual([422, 'invalid_request']);
    await operate('PATCH', `/${id}`, { price_micros_per_second: 1, queue_limit: 7 });
    expect((await own('POST', `/${id}/stop`)).body.state).toBe('stopped');
    expect((await own('POST', `/${id}/start`)).body).toMatchObject({
      state: 'provisioning',
      price_micros_per_second: 1,
    });
    const { body } = await own<{ changes: { actor: string; action: string }[] }>('GET', `/${id}/changes`);
    expect(body.changes.map(({ actor, action }) => [actor.split(':')[0], action])).toEqual([
      ['api_key', 'deployment.start'],
      ['api_key', 'deployment.stop'],
      ['operator', 'deployment.update'],
      ['api_key', 'deployment.update'],
      ['api_key', 'deployment.create'],
    ]);
    expect(body.changes[0]).not.toHaveProperty('address');
  });

  it('is not there for another account', async () => {
    const { id } = await create();
    const tries = await Promise.all([
      own('GET', `/${id}`, undefined, stranger),
      own('PATCH', `/${id}`, { name: 'mine' }, stranger),
      own('DELETE', `/${id}`, undefined, stranger),
      own('POST', `/${id}/stop`, undefined, stranger),
      own('POST', `/${id}/start`, undefined, stranger),
      own('GET', `/${id}/changes`, undefined, stranger),
    ]);
    expect(tries.map(({ status }) => status)).toEqual(tries.map(() => 404));
    expect((await own('GET', `/${id}`)).body).toMatchObject({ name: 'a test', deleting_at: null });
  });

  it('is deleted: no request finds it that has no jobs, and those of before keep their reference', async () => {
    const deployment = await create();
    await announceCatalogue(api, deployment.id);
    expect((await own('DELETE', `/${deployment.id}`)).status).toBe(204);
    expect((await own('GET', `/${deployment.id}`)).status).toBe(404);
    expect((await operate('GET', `/${deployment.id}`)).status).toBe(404);
    expect((await at(deployment).call('GET', '/api/v2/jobs')).status).toBe(404);
    const row = await api.test.database.models.deployment.findUniqueOrThrow({ where: { id: deployment.id } });
    expect(row.deletedAt).not.toBeNull();
    expect((await own('DELETE', `/${deployment.id}`)).status).toBe(404);
  });

  it('with jobs is not deleted, unless it is to drain: then it takes no more', async () => {
    const deployment = await create();
    await announceCatalogue(api, deployment.id);
    await makeReady(deployment.id);
    const client = at(deployment);
    const job = await client.run(GRAPH);
    const busy = await own('DELETE', `/${deployment.id}`);
    expect(codeOf(busy)).toEqual([409, 'deployment_busy']);
    expect((await own('DELETE', `/${deployment.id}?drain=true`)).status).toBe(204);
    expect((await own('GET', `/${deployment.id}`)).body.deleting_at).not.toBeNull();
    expect(codeOf(await client.call('POST', '/api/v2/jobs', { json: { workflow: GRAPH } }))).toEqual([
      422,
      'deployment_stopped',
    ]);
    expect((await client.job(job.id)).status).toBe('queued');
  });
});

describe('the jobs of a deleted deployment', () => {
  let deployment: Deployment;
  let client: ApiClient;
  let jobId: string;
  beforeEach(async () => {
    deployment = await create();
    await announceCatalogue(api, deployment.id);
    await makeReady(deployment.id);
    client = at(deployment);
    ({ id: jobId } = await client.run(GRAPH));
  });

  const end = (): Promise<unknown> => client.call('POST', `/api/v2/jobs/${jobId}/cancel`);
  async function drain(): Promise<void> {
    expect((await own('DELETE', `/${deployment.id}?drain=true`)).status).toBe(204);
    await end();
    const { models } = api.test.database;
    await models.deployment.update({ where: { id: deployment.id }, data: { deletingAt: new Date(0) } });
    await new DeleteDrainedDeploymentsLoop(api.test.database, new DrainedDeploymentStore()).runOnce();
  }
  async function remove(): Promise<void> {
    await end();
    expect((await own('DELETE', `/${deployment.id}`)).status).toBe(204);
  }
  /** A refusal of a submission rests on a fresh reading: from then on none of before the deletion is cached. */
  const refuseJobs = async (): Promise<void> => {
    expect((await client.call('POST', '/api/v2/jobs', { json: { workflow: GRAPH } })).status).toBe(404);
  };
  const deletions = [
    ['drained', drain],
    ['was deleted at once', remove],
  ] as const;

  it.each(deletions)('that %s are read as before until they expire', async (_how, act) => {
    await act();
    await refuseJobs();
    expect((await own('GET', `/${deployment.id}`)).status).toBe(404);
    expect((await client.job(jobId)).status).toBe('canceled');
    const { body } = await client.call<JobPage>('GET', '/api/v2/jobs');
    expect(body.jobs.map(({ id }) => id)).toEqual([jobId]);
    const paths = ['', '/workflow', '/events', '/attempts'].map((path) => `/api/v2/jobs/${jobId}${path}`);
    for (const path of paths) expect([path, (await client.call('GET', path)).status]).toEqual([path, 200]);
    expect((await client.call('HEAD', `/api/v2/jobs/${jobId}`)).status).toBe(200);
    await api.test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
      await tx.models.job.update({ where: { id: jobId }, data: { deadlineAt: new Date(0), expiresAt: new Date(0) } });
    });
    await eventually('the deployment to be gone', async () => {
      const answer = await client.call('GET', '/api/v2/jobs');
      return answer.status === 404 && answer.text.includes(`no deployment ${deployment.id}`);
    });
  });

  it.each(deletions)('that %s are all that is there, and to nobody else', async (_how, act) => {
    await act();
    await refuseJobs();
    const refused = await Promise.all([
      client.call('POST', `/api/v2/jobs/${jobId}/cancel`),
      client.call('POST', '/api/v2/batches', { json: { jobs: [{ workflow: GRAPH }] } }),
      client.upload(Buffer.from('a'), { content_type: 'text/plain', file_path: 'a.txt' }),
      client.call('POST', '/mcp', { json: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }),
      new ApiClient(api.publicUrl + deployment.path, stranger.key).call('GET', `/api/v2/jobs/${jobId}`),
    ]);
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 404));
    expect((await own('POST', `/${deployment.id}/start`)).status).toBe(404);
    expect((await own('DELETE', `/${deployment.id}`)).status).toBe(404);
  });
});

async function makeReady(poolId: string): Promise<void> {
  const times = { readyAt: new Date(), lastSeenAt: new Date(Date.now() + 3_600_000) };
  const worker = { id: newId(), poolId, engine: 'cpu', version: 't', host: 't', pid: 1, state: 'ready', ...times };
  await api.test.database.models.worker.create({ data: worker });
}

describe('the plan of an account', () => {
  const limit = async (limits: object): Promise<TestAccount> => {
    const limited = await api.account();
    await api.operator().call('PATCH', `/admin/v1/accounts/${limited.id}`, { json: limits });
    // A key is cached for a moment.
    return { ...limited, key: (await api.key(limited.id, ['jobs:read', 'deployments:write'])).key };
  };
  const order = { name: 'x', engine_class: 'cpu' };

  it('of no deployments lets it make none, and change those that an operator made', async () => {
    const none = await limit({ deployment_limit: 0 });
    expect(codeOf(await own('POST', '', order, none))).toEqual([422, 'deployment_limit']);
    const { body } = await operate('POST', '', { account_id: none.id, name: 'given' });
    expect((await own('PATCH', `/${body.id}`, { name: 'mine' }, none)).status).toBe(200);
  });

  it('bounds the deployments, and the workers of all together, also of requests at once', async () => {
    const small = await limit({ deployment_limit: 2, deployment_worker_limit: 5 });
    const made = await Promise.all(
      Array.from({ length: 6 }, () => own('POST', '', { ...order, max_workers: 2 }, small)),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(2);
    const [first] = made.filter(({ status }) => status === 201);
    const more = (max_workers: number) => own('PATCH', `/${first?.body.id}`, { max_workers }, small);
    expect(codeOf(await more(4))).toEqual([422, 'deployment_limit']);
    expect((await more(3)).status).toBe(200);
    await own('DELETE', `/${first?.body.id}`, undefined, small);
    expect((await own('POST', '', order, small)).status).toBe(201);
  });
});
