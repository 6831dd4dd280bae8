import { blake3 } from '@napi-rs/blake-hash';
import { newId, type GatewayAttempt } from '@millrace/contracts';
import { WorkerStartStore } from '@millrace/deployments';
import { RemoteAttempts } from '@millrace/jobs';
import { GatewayWorld, type GatewayAnswer, type RemoteWorker } from './fixtures/gateway-world';

const NAME = 'mine.safetensors';

let world: GatewayWorld;
beforeAll(async () => {
  world = await GatewayWorld.open();
});
afterAll(() => world.close());

const digestOf = (text: string): string => blake3(text).toString('hex');

/** An account with a model, and a worker that holds an attempt whose graph names it. */
async function attemptWithModel(text = 'weights', accountId?: string): Promise<[RemoteWorker, GatewayAttempt, string]> {
  accountId ??= await world.account();
  await world.model(accountId, NAME, text);
  const worker = await world.worker();
  await world.submit(worker.poolId, { accountId, model: NAME });
  return [worker, await worker.take(), digestOf(text)];
}

const read = (worker: RemoteWorker, attempt: GatewayAttempt, digest: string, range?: string): Promise<GatewayAnswer> =>
  worker.of(attempt, 'GET', `models/${digest}/content`, undefined, range === undefined ? {} : { range });

describe('the models of an attempt', () => {
  it('are found by the names of its graph, and of no other', async () => {
    const accountId = await world.account();
    await world.model(accountId, 'unnamed.safetensors', 'of the same account');
    const [worker, attempt, digest] = await attemptWithModel('weights', accountId);
    await world.model(await world.account(), 'foreign.safetensors', 'of another account');
    const names = [NAME, 'unnamed.safetensors', 'foreign.safetensors'];
    const { body } = await worker.of(attempt, 'POST', 'models', { names });
    expect(body).toEqual({ files: [{ folder: 'checkpoints', name: NAME, digest, sizeBytes: 7 }] });
  });

  it('are read in ranges, by the gateway where the store has no links', async () => {
    const [worker, attempt, digest] = await attemptWithModel();
    expect((await worker.of(attempt, 'GET', `models/${digest}`)).body).toEqual({ url: null });
    expect(await read(worker, attempt, digest, 'bytes=0-2')).toMatchObject({ status: 206, text: 'wei' });
    expect(await read(worker, attempt, digest, 'bytes=3-6')).toMatchObject({ status: 206, text: 'ghts' });
    for (const range of [undefined, 'bytes=3-', 'bytes=4-3', 'bytes=x-y', 'lines=0-1']) {
      expect((await read(worker, attempt, digest, range)).status).toBe(400);
    }
  });

  it('are not those of other accounts, also where their hash is known', async () => {
    const [worker, attempt] = await attemptWithModel();
    await world.model(await world.account(), 'foreign.safetensors', 'of another account');
    for (const digest of [digestOf('of another account'), '0'.repeat(64), 'x', '..']) {
      expect((await worker.of(attempt, 'GET', `models/${encodeURIComponent(digest)}`)).status).toBe(404);
      expect((await read(worker, attempt, encodeURIComponent(digest), 'bytes=0-2')).status).toBe(404);
    }
  });

  it('are found with one reading of its graph, however often they are asked for', async () => {
    const [worker, attempt] = await attemptWithModel();
    const readings = jest.spyOn(RemoteAttempts.prototype, 'workflowOf');
    const ask = (): Promise<GatewayAnswer> => worker.of(attempt, 'POST', 'models', { names: [NAME] });
    for (const { body } of [await ask(), ...(await Promise.all([ask(), ask()]))]) {
      expect(body).toMatchObject({ files: [{ name: NAME }] });
    }
    expect(readings).toHaveBeenCalledTimes(1);
    readings.mockRestore();
  });

  it('are for who holds the attempt alone', async () => {
    const [worker, attempt, digest] = await attemptWithModel();
    const other = await world.worker();
    const wrong = { ...attempt, leaseToken: newId() };
    for (const [who, what] of [
      [other, attempt],
      [worker, wrong],
    ] as const) {
      expect((await who.of(what, 'POST', 'models', { names: [NAME] })).status).toBe(403);
      expect((await who.of(what, 'GET', `models/${digest}`)).status).toBe(403);
      expect((await read(who, what, digest, 'bytes=0-2')).status).toBe(403);
    }
  });
});

describe('a job whose models a worker outside has no room for', () => {
  const TEXT = 'weights';
  /** Workers of one pool, one for each capacity of their caches, and a job that waits there and names a model. */
  async function among(...capacities: number[]): Promise<{ job: string; workers: RemoteWorker[] }> {
    const pool = await world.pool();
    const workers: RemoteWorker[] = [];
    for (const modelCacheBytes of capacities) {
      const worker = await world.worker(pool);
      await worker.report('ready', { modelCacheBytes });
      workers.push(worker);
    }
    const accountId = await world.account();
    await world.model(accountId, NAME, TEXT);
    return { job: await world.submit(pool.poolId, { accountId, model: NAME }), workers };
  }
  const lack = { message: `The disk has no room for ${NAME}.`, neededBytes: TEXT.length, nodeId: '2' };
  const handBack = (worker: RemoteWorker, attempt: GatewayAttempt): Promise<GatewayAnswer> =>
    worker.of(attempt, 'POST', 'ends', { kind: 'handed_back', lack });

  it('goes to one of its pool that says that it has room', async () => {
    const { job, workers } = await among(TEXT.length - 1, TEXT.length);
    const [small, large] = workers as [RemoteWorker, RemoteWorker];
    const message = await small.offer();
    expect(message.jobId).toBe(job);
    expect(await small.claim(message)).toBeNull();
    expect(await large.take()).toMatchObject({ jobId: job, attempt: 1 });
  });

  it('goes to another when its worker finds out, with the reason, and fails when none is left', async () => {
    const { job, workers } = await among(TEXT.length, TEXT.length);
    const [one, other] = workers as [RemoteWorker, RemoteWorker];
    expect((await handBack(one, await one.take())).body).toEqual({ recorded: true });
    const attempt = await other.take();
    expect(attempt).toMatchObject({ jobId: job, attempt: 2 });
    const where = { jobId_attempt: { jobId: job, attempt: 1 } };
    expect(await world.test.database.models.jobAttempt.findUniqueOrThrow({ where })).toMatchObject({
      outcome: 'handed_back',
      error: { code: 'input_unavailable', message: lack.message, node_id: '2' },
    });
    await handBack(other, attempt);
    expect(await world.job(job)).toMatchObject({ status: 'failed', error: { code: 'input_unavailable' } });
  });

  it('fails where its only worker is too small', async () => {
    const { job, workers } = await among(TEXT.length - 1);
    const [only] = workers as [RemoteWorker];
    await handBack(only, await only.take());
    expect(await world.job(job)).toMatchObject({ status: 'failed', error: { code: 'input_unavailable' } });
  });
});

describe('the models that a deployment names', () => {
  const graph = JSON.stringify({ '1': { class_type: 'Load', inputs: { name: NAME } } });
  /** A pool of an account's deployment, and a worker of it that holds no attempt. */
  async function warmedUp(accountId: string, warmUp: string | null, models: object[] = []): Promise<RemoteWorker> {
    const pool = await world.pool();
    const data = {
      id: newId(),
      accountId,
      name: 'test',
      poolId: pool.poolId,
      warmUp,
      models: JSON.parse(JSON.stringify(models)) as [],
    };
    await world.test.database.models.deployment.create({ data });
    return world.worker(pool);
  }
  const bytesOf = (worker: RemoteWorker, digest: string): Promise<GatewayAnswer> =>
    world.ask('GET', `warm-up/models/${digest}/content`, { token: worker.token, headers: { range: 'bytes=0-2' } });
  const named = (worker: RemoteWorker, names: string[]): Promise<GatewayAnswer> =>
    world.ask('POST', 'warm-up/models', { token: worker.token, body: { names } });

  it('are found and read without an attempt: those of its graph, and no others of the account', async () => {
    const accountId = await world.account();
    await world.model(accountId, NAME, 'weights');
    await world.model(accountId, 'unnamed.safetensors', 'of the same account');
    const worker = await warmedUp(accountId, graph);
    const digest = digestOf('weights');
    expect((await named(worker, [NAME, 'unnamed.safetensors'])).body).toEqual({
      files: [{ folder: 'checkpoints', name: NAME, digest, sizeBytes: 7 }],
    });
    const { token } = worker;
    expect((await world.ask('GET', `warm-up/models/${digest}`, { token })).body).toEqual({ url: null });
    expect(await bytesOf(worker, digest)).toMatchObject({ status: 206, text: 'wei' });
    const other = digestOf('of the same account');
    expect((await world.ask('GET', `warm-up/models/${other}`, { token })).status).toBe(404);
    expect((await bytesOf(worker, other)).status).toBe(404);
  });

  it('are found with one reading of its graph by requests that come at once', async () => {
    const accountId = await world.account();
    await world.model(accountId, NAME, 'weights');
    const worker = await warmedUp(accountId, graph);
    const readings = jest.spyOn(WorkerStartStore.prototype, 'warmUp');
    const path = `warm-up/models/${digestOf('weights')}`;
    const ask = (): Promise<GatewayAnswer> => world.ask('GET', path, { token: worker.token });
    expect((await Promise.all([ask(), ask(), ask()])).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(readings).toHaveBeenCalledTimes(1);
    readings.mockRestore();
  });

  it('are found at once when its graph names them newly', async () => {
    const accountId = await world.account();
    await world.model(accountId, NAME, 'weights');
    await world.model(accountId, 'newly.safetensors', 'named since');
    const worker = await warmedUp(accountId, null);
    const change = (warmUp: string): Promise<unknown> =>
      world.test.database.models.deployment.updateMany({ where: { poolId: worker.poolId }, data: { warmUp } });
    expect((await named(worker, [NAME])).status).toBe(403);
    await change(graph);
    expect((await named(worker, [NAME])).body).toMatchObject({ files: [{ name: NAME }] });
    await change(graph.replace(NAME, 'newly.safetensors'));
    expect(await bytesOf(worker, digestOf('named since'))).toMatchObject({ status: 206, text: 'nam' });
    const { body } = await named(worker, ['newly.safetensors']);
    expect(body).toMatchObject({ files: [{ name: 'newly.safetensors' }] });
  });

  it('are for workers of the pool alone, for as long as its deployment names them', async () => {
    const accountId = await world.account();
    await world.model(accountId, NAME, 'weights');
    await warmedUp(accountId, graph);
    for (const stranger of [await world.worker(), await warmedUp(accountId, null)]) {
      expect((await named(stranger, [NAME])).status).toBe(403);
      expect((await bytesOf(stranger, digestOf('weights'))).status).toBe(403);
    }
    const foreign = await warmedUp(await world.account(), graph);
    expect((await named(foreign, [NAME])).body).toEqual({ files: [] });
    expect((await bytesOf(foreign, digestOf('weights'))).status).toBe(404);
  });

  it('are those of its list as well, each in its folder, in the order of the list', async () => {
    const accountId = await world.account();
    await world.model(accountId, NAME, 'weights');
    await world.model(accountId, 'listed.safetensors', 'in the list');
    await world.model(accountId, 'elsewhere.safetensors', 'of another folder than is listed');
    const models = [
      { folder: 'checkpoints', name: 'listed.safetensors' },
      { folder: 'loras', name: 'elsewhere.safetensors' },
    ];
    const worker = await warmedUp(accountId, null, models);
    const { token } = worker;
    expect((await world.ask('GET', 'deployment/models', { token })).body).toEqual({ models });
    const { body } = await named(worker, [NAME, 'listed.safetensors', 'elsewhere.safetensors']);
    expect(body).toMatchObject({ files: [{ folder: 'checkpoints', name: 'listed.safetensors' }] });
    expect(await bytesOf(worker, digestOf('in the list'))).toMatchObject({ status: 206, text: 'in ' });
    for (const other of ['weights', 'of another folder than is listed']) {
      expect((await bytesOf(worker, digestOf(other))).status).toBe(404);
    }
    const bare = await warmedUp(accountId, null);
    expect((await world.ask('GET', 'deployment/models', { token: bare.token })).body).toEqual({ models: [] });
  });

  it('have what is said of them in the record of the worker', async () => {
    const worker = await warmedUp(await world.account(), null);
    await worker.report('starting', { modelsNote: 'its models are fetched: 1 KB of 2 KB' });
    const where = { poolId: worker.poolId };
    const { modelsNote } = await world.test.database.models.worker.findFirstOrThrow({ where });
    expect(modelsNote).toBe('its models are fetched: 1 KB of 2 KB');
  });

  it('come with its graph as it was stored, digit for digit', async () => {
    const text = '{"1": {"class_type": "Load", "inputs": {"seed": 18446744073709551615}}}';
    const worker = await warmedUp(await world.account(), text);
    const { body } = await world.ask('GET', 'terms', { token: worker.token });
    expect(body).toMatchObject({ warmUp: text, servesWarmUpModels: true });
  });
});
