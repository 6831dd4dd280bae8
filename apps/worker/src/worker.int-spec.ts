import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Prisma } from '@prisma/client';
import { DEFAULT_LIMITS } from '@millrace/accounts';
import { BlobStoreError, assetSettings, blobKey, composeAssets, openBlobStore, type Assets } from '@millrace/assets';
import { billingSettings } from '@millrace/billing';
import { NO_SUBMISSION_DEFAULTS, newId, type DispatchMessage } from '@millrace/contracts';
import { WorkerStore } from '@millrace/deployments';
import {
  composeExecution,
  composeSubmission,
  jobSettings,
  type JobExecution,
  type JobScope,
  type JobSubmission,
} from '@millrace/jobs';
import { RedisConnections } from '@millrace/messaging';
import { KeyRing, Metrics, createLogger, readSettings } from '@millrace/platform';
import { createTestDatabase, eventually, makeAccount, testRedisUrl, type TestDatabase } from '@millrace/testing';
import { catalogue, engineThat, gate, lasts, makesFile, succeeds, type Run } from './fixtures/engines';
import { DatabaseRegistry } from './pool-registry';
import { WorkFolder } from './work-files';
import { PoolWorker } from './worker';

const DRAIN_MS = 100;
const PRICE = 1_000n;
const logger = createLogger('test', 'fatal');
/** Longer than any test, also on a busy machine. */
const LEASE_SECONDS = 600;
const settings = {
  ...readSettings({ ...jobSettings, ...billingSettings, ...assetSettings }, {}),
  leaseSeconds: LEASE_SECONDS,
};

/** What the store does with the next bytes that are read or written; a test decides. */
const store = { open: async (): Promise<void> => undefined, stage: async (): Promise<void> => undefined };

let test: TestDatabase;
let redis: RedisConnections;
let folder: string;
let assets: Assets;
let jobs: JobExecution;
let submission: JobSubmission;
const workers: PoolWorker[] = [];
beforeAll(async () => {
  test = await createTestDatabase();
  redis = new RedisConnections(testRedisUrl(), logger);
  folder = await mkdtemp(join(tmpdir(), 'millrace-worker-test-'));
  const blobs = await openBlobStore({ ...settings, blobDir: join(folder, 'blobs') });
  const open = blobs.open.bind(blobs);
  const stage = blobs.stage.bind(blobs);
  blobs.open = (key, range) => store.open().then(() => open(key, range));
  blobs.stage = (source, options) => store.stage().then(() => stage(source, options));
  const { database } = test;
  assets = composeAssets({ database, store: blobs, settings });
  const metrics = new Metrics('test');
  const secretKey = KeyRing.of(Buffer.alloc(32, 1));
  const parts = { database, redis, logger, metrics, settings, secretKey };
  jobs = composeExecution(parts);
  submission = composeSubmission({
    ...parts,
    assets: assets.assets,
    models: { known: () => Promise.resolve(new Set<string>()) },
    quota: assets.quota,
    defaults: { of: () => Promise.resolve(NO_SUBMISSION_DEFAULTS) },
  });
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.drain().then(() => worker.stop())));
  await jobs.close();
  await submission.close();
  await redis.close();
  await test.drop();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  store.open = () => Promise.resolve();
  store.stage = () => Promise.resolve();
});

/** A worker of a pool of its own, and a job of its own that was dispatched to it. */
async function openWorld(run: Run, { withInput = false } = {}): Promise<World> {
  const poolId = `pool-${newId()}`;
  const worker = new PoolWorker({
    identity: { id: newId(), poolId, version: 'test' },
    registry: new DatabaseRegistry(test.database),
    claims: jobs.claims,
    engines: [engineThat(run)],
    recordsOf: () => ({ jobs, assets }),
    attempt: {
      logger,
      metrics: new Metrics('test'),
      maxOutputsPerJob: 1_000,
      leaseSeconds: LEASE_SECONDS,
      logTailBytes: 64,
    },
    workFolder: new WorkFolder(folder, logger),
    logger,
    drainMs: DRAIN_MS,
    warmUpLimitMs: 60_000,
    prefetchLimitMs: 60_000,
    onCapacity: () => undefined,
  });
  await worker.start();
  workers.push(worker);
  const accountId = await makeAccount(test.database, { micros: 1_000_000_000n });
  return submitTo(worker, poolId, accountId, withInput ? { image: await inputOf(accountId) } : {});
}

async function submitTo(worker: PoolWorker, poolId: string, accountId: string, image: object): Promise<World> {
  const scope = { accountId, surface: 'cloud', deploymentId: null, labels: null } as const;
  const { job } = await submission.submissions.submit({
    caller: {
      accountId,
      apiKeyId: null,
      scopes: new Set(),
      labels: null,
      accountStatus: 'active',
      limits: DEFAULT_LIMITS,
    },
    scope,
    body: Buffer.from(JSON.stringify({ workflow: { '1': { class_type: 'Show', inputs: image } } })),
    target: () =>
      Promise.resolve({ poolId, catalogue, catalogueDigest: 'test', queueLimit: null, priceMicrosPerSecond: PRICE }),
    idempotencyKey: undefined,
    traceparent: null,
  });
  const another = (): Promise<World> => submitTo(worker, poolId, accountId, {});
  const world = new World(worker, { jobId: job.id, attempt: 1 }, scope, another);
  await world.isDelivered('dispatched');
  return world;
}

async function inputOf(accountId: string): Promise<object> {
  const { blob, contentType } = await assets.assets.storeOutput(accountId, Readable.from([Buffer.from('input')]), {
    name: 'in.png',
  });
  const id = newId();
  const { hash, sizeBytes } = blob;
  await test.database.models.asset.create({
    data: { id, accountId, hash, sizeBytes, contentType, filePath: 'in.png' },
  });
  return { __type: 'core/ASSET', info: { id } };
}

async function deliveryOf(id: string): Promise<string> {
  return (await test.database.models.job.findUniqueOrThrow({ where: { id } })).delivery;
}

class World {
  constructor(
    readonly worker: PoolWorker,
    readonly message: DispatchMessage,
    private readonly scope: JobScope,
    /** Submit another job, for the same worker. */
    readonly another: () => Promise<World>,
  ) {}

  /** Hand the message to the worker; resolves when the worker is free for the next. */
  take(attempt = 1): Promise<unknown> {
    return this.worker.take({ ...this.message, attempt });
  }

  /** Hand the message to the worker; resolves when that has come to an end. */
  async run(): Promise<void> {
    await this.take();
    await this.isOver();
  }

  isOver(): Promise<unknown> {
    const where = { jobId: this.message.jobId, outcome: null };
    return eventually('the attempt to end', async () => (await test.database.models.jobAttempt.count({ where })) === 0);
  }

  async cancel(): Promise<void> {
    await jobs.lifecycle.cancel(this.scope, this.message.jobId);
    await this.worker.cancel(this.message.jobId);
  }

  isRunning(): Promise<unknown> {
    return this.isDelivered('leased');
  }

  isDelivered(delivery: string): Promise<unknown> {
    return eventually(`the job to be ${delivery}`, async () => (await deliveryOf(this.message.jobId)) === delivery);
  }

  /** As if the worker had been silent for the length of its lease: the job gets its next attempt. */
  async loseLease(): Promise<void> {
    const { jobId } = this.message;
    await test.database.execute(
      Prisma.sql`UPDATE jobs SET lease_expires_at = now() - interval '1 second' WHERE id = ${jobId}::uuid`,
    );
    await jobs.lifecycle.rescue({ id: jobId, status: 'running', last: false });
    await this.isDelivered('dispatched');
  }

  /** The job, the outcomes of its attempts, and what is still held for it. */
  async outcome(): Promise<object> {
    const { jobId } = this.message;
    const include = { attempts: true, outputs: true };
    const job = await test.database.models.job.findUniqueOrThrow({ where: { id: jobId }, include });
    const { heldMicros } = await test.database.models.balance.findUniqueOrThrow({
      where: { accountId: this.scope.accountId },
    });
    return {
      status: job.status,
      delivery: job.delivery,
      error: job.error,
      charged: job.chargedMicros,
      attempts: job.attempts.map(({ outcome }) => outcome),
      outputs: job.outputs.map(({ name }) => name),
      held: heldMicros > 0n,
    };
  }
}

const away = (): Promise<void> => Promise.reject(new BlobStoreError('unreachable', 'the bucket does not answer'));

describe('a job that is canceled', () => {
  it('while its inputs are staged never enters the engine, and is free', async () => {
    const entered = jest.fn(succeeds);
    const world = await openWorld(entered, { withInput: true });
    const reading = gate();
    store.open = reading.pass;
    const over = world.run();
    await reading.reached;
    await world.cancel();
    reading.open();
    await over;
    expect(await world.outcome()).toMatchObject({
      status: 'canceled',
      charged: 0n,
      attempts: ['canceled'],
      held: false,
    });
    expect(entered).not.toHaveBeenCalled();
  });

  it('while it runs is interrupted', async () => {
    const world = await openWorld(lasts);
    const over = world.run();
    await world.isRunning();
    await world.cancel();
    await over;
    expect(await world.outcome()).toMatchObject({ status: 'canceled', attempts: ['canceled'], held: false });
  });

  it('while its outputs are stored ends canceled, though its run had succeeded', async () => {
    const world = await openWorld(makesFile);
    const writing = gate();
    store.stage = writing.pass;
    const over = world.run();
    await writing.reached;
    await world.cancel();
    await world.cancel();
    writing.open();
    await over;
    expect(await world.outcome()).toMatchObject({
      status: 'canceled',
      error: null,
      attempts: ['canceled'],
      held: false,
    });
  });
});

describe('an input whose bytes are not what they were', () => {
  it('never reaches the engine: the job fails with an error that names it, is free, and its owner is answered so from then on', async () => {
    const entered = jest.fn(succeeds);
    const world = await openWorld(entered, { withInput: true });
    const { jobId } = world.message;
    const { assetId, asset } = await test.database.models.jobInput.findFirstOrThrow({
      where: { jobId },
      include: { asset: true },
    });
    const { hash, createdAt: bornAt } = await test.database.models.blob.findFirstOrThrow({
      where: { accountId: asset.accountId, hash: asset.hash },
    });
    await writeFile(join(folder, 'blobs', 'blobs', blobKey({ accountId: asset.accountId, hash, bornAt })), 'INPUT');
    await world.run();
    expect(await world.outcome()).toMatchObject({
      status: 'failed',
      error: {
        code: 'input_unavailable',
        node_id: '1',
        message: expect.stringContaining(`${assetId} could`) as string,
      },
      charged: 0n,
      held: false,
    });
    expect(entered).not.toHaveBeenCalled();
    const asked = assets.content.openInput(asset.accountId, assetId);
    await expect(asked).rejects.toMatchObject({ code: 'content_lost' });
  });
});

describe('a blob store that stays away', () => {
  it('while inputs are staged fails the job, after some tries, with an error that names it', async () => {
    const world = await openWorld(succeeds, { withInput: true });
    store.open = jest.fn(away);
    await world.run();
    expect(await world.outcome()).toMatchObject({
      status: 'failed',
      error: { code: 'input_unavailable', node_id: '1', message: expect.stringContaining('blob store') as string },
      charged: 0n,
      held: false,
    });
    expect(store.open).toHaveBeenCalledTimes(4);
  });

  it('while outputs are stored fails the job, after some tries, with an error that names it', async () => {
    const world = await openWorld(makesFile);
    store.stage = jest.fn(away);
    await world.run();
    expect(await world.outcome()).toMatchObject({
      status: 'failed',
      error: {
        code: 'output_storage_error',
        message:
          'An output could not be stored: the blob store does not answer. This attempt was not charged. Submit the job again.',
      },
      charged: 0n,
      outputs: [],
      held: false,
    });
    expect(store.stage).toHaveBeenCalledTimes(4);
  });

  it('for a moment goes unnoticed', async () => {
    const world = await openWorld(makesFile, { withInput: true });
    store.open = jest.fn(() => Promise.resolve()).mockImplementationOnce(away);
    store.stage = jest.fn(() => Promise.resolve()).mockImplementationOnce(away);
    await world.run();
    expect(await world.outcome()).toMatchObject({ status: 'succeeded', error: null, outputs: ['a.txt'] });
  });
});

describe('a worker whose engine says that it computes no more', () => {
  it('claims the next attempt meanwhile, which has the engine once the run has settled', async () => {
    const settling = gate();
    const runs: Run[] = [
      async (_work, context) => {
        context.onEvent({ type: 'started' });
        context.onEvent({ type: 'computed' });
        await settling.pass();
        return { status: 'succeeded' };
      },
    ];
    const world = await openWorld((work, context) => (runs.shift() ?? makesFile)(work, context));
    await world.take();
    const next = await world.another();
    const over = next.take();
    await next.isRunning();
    expect(await next.outcome()).toMatchObject({ status: 'running', attempts: [null], outputs: [] });
    settling.open();
    await over;
    await Promise.all([world.isOver(), next.isOver()]);
    expect(await world.outcome()).toMatchObject({ status: 'succeeded', attempts: ['succeeded'] });
    expect(await next.outcome()).toMatchObject({ status: 'succeeded', outputs: ['a.txt'] });
  });
});

describe('a worker whose attempt stores what it made', () => {
  /** An attempt that has left its engine, and is held where its bytes are written. */
  async function storing(run: Run): Promise<{ world: World; writing: ReturnType<typeof gate> }> {
    const world = await openWorld(run);
    const writing = gate();
    store.stage = writing.pass;
    await world.take();
    await writing.reached;
    store.stage = () => Promise.resolve();
    return { world, writing };
  }

  it('runs the next on the same engine meanwhile', async () => {
    const { world, writing } = await storing(makesFile);
    const next = await world.another();
    await next.run();
    expect(await next.outcome()).toMatchObject({ status: 'succeeded', outputs: ['a.txt'] });
    expect(await world.outcome()).toMatchObject({ status: 'running', delivery: 'leased', outputs: [] });
    writing.open();
    await world.isOver();
    expect(await world.outcome()).toMatchObject({ status: 'succeeded', outputs: ['a.txt'] });
  });

  it('takes nothing while a second has left the engine and stores, too', async () => {
    const { world, writing } = await storing(makesFile);
    const [second, third] = [await world.another(), await world.another()];
    const writingToo = gate();
    store.stage = writingToo.pass;
    const free = jest.fn();
    const over = second.take().then(free);
    await writingToo.reached;
    // Its engine settles with nothing more to wait for.
    await new Promise(setImmediate);
    await third.take();
    expect(free).not.toHaveBeenCalled();
    expect(await third.outcome()).toMatchObject({ status: 'queued', delivery: 'dispatched', attempts: [] });
    writing.open();
    await over;
    expect(await second.outcome()).toMatchObject({ status: 'running', attempts: [null] });
    writingToo.open();
    await third.run();
    expect(await third.outcome()).toMatchObject({ status: 'succeeded' });
  });

  it('has stored and recorded all of it when it has stopped', async () => {
    const { world, writing } = await storing(makesFile);
    const drained = world.worker.drain();
    await eventually('it to take nothing more', () => !world.worker.isReady);
    writing.open();
    await drained;
    expect(await world.outcome()).toMatchObject({ status: 'succeeded', outputs: ['a.txt'] });
  });

  it('runs the next attempt of the same job, when that one has lost its lease, and waits for it, too', async () => {
    const runs = [makesFile, lasts];
    const { world, writing } = await storing((work, context) => (runs.shift() ?? succeeds)(work, context));
    await world.loseLease();
    const over = world.take(2);
    await world.isRunning();
    writing.open();
    await Promise.all([over, world.worker.drain()]);
    expect(await world.outcome()).toMatchObject({ status: 'running', attempts: ['lost', 'handed_back'], outputs: [] });
  });
});

describe('a worker that an operator drains', () => {
  it('takes nothing more, and takes jobs again when that is undone', async () => {
    const world = await openWorld(succeeds);
    const { id } = await test.database.models.worker.findFirstOrThrow({ orderBy: { id: 'desc' } });
    const stateOf = async (): Promise<string> =>
      (await test.database.models.worker.findUniqueOrThrow({ where: { id } })).state;
    const store = new WorkerStore();
    await store.drain(test.database, id);
    await eventually('it to take nothing more', () => !world.worker.isReady);
    expect(await stateOf()).toBe('draining');
    await store.undrain(test.database, id);
    await eventually('it to take jobs again', async () => world.worker.isReady && (await stateOf()) === 'ready');
    await world.run();
    expect(await world.outcome()).toMatchObject({ status: 'succeeded' });
  });

  it('goes on draining when it stops by itself', async () => {
    const world = await openWorld(succeeds);
    const { id } = await test.database.models.worker.findFirstOrThrow({ orderBy: { id: 'desc' } });
    await world.worker.drain();
    await new WorkerStore().undrain(test.database, id);
    await eventually('its next heartbeat', async () => {
      const { state } = await test.database.models.worker.findUniqueOrThrow({ where: { id } });
      return state === 'draining';
    });
    expect(world.worker.isReady).toBe(false);
  });
});

describe('a worker that stops', () => {
  it('lets a run end that does within the time it has, and takes nothing more', async () => {
    const running = gate();
    const world = await openWorld((work, context) => running.pass().then(() => succeeds(work, context)));
    const over = world.run();
    await running.reached;
    const drained = world.worker.drain();
    expect(world.worker.isReady).toBe(false);
    running.open();
    await Promise.all([over, drained]);
    expect(await world.outcome()).toMatchObject({ status: 'succeeded', attempts: ['succeeded'] });
  });

  it('gives back what does not: it waits for another worker, still running to its owner, and lost no attempt', async () => {
    const world = await openWorld(lasts);
    const over = world.run();
    await world.isRunning();
    await Promise.all([over, world.worker.drain()]);
    expect(await world.outcome()).toMatchObject({ status: 'running', attempts: ['handed_back'], held: true });
  });

  it('leaves a message that reaches it late to others', async () => {
    const world = await openWorld(succeeds);
    await world.worker.drain();
    expect(await world.take()).toMatchObject({ attempt: 1 });
    expect(await world.outcome()).toMatchObject({ status: 'queued', delivery: 'dispatched', attempts: [] });
  });
});

it('a worker that its pool does not know any more registers again, and is given work', async () => {
  const world = await openWorld(succeeds);
  const { poolId } = await test.database.models.job.findUniqueOrThrow({ where: { id: world.message.jobId } });
  const { worker } = test.database.models;
  await worker.deleteMany({ where: { poolId } });
  await eventually('it to be back', async () => (await worker.count({ where: { poolId, state: 'ready' } })) === 1);
  await (await world.another()).run();
});
