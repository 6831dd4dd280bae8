import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_LIMITS } from '@millrace/accounts';
import { assetSettings, composeAssets, openBlobStore, type Assets } from '@millrace/assets';
import { billingSettings } from '@millrace/billing';
import { NO_SUBMISSION_DEFAULTS, newId, type NodeCatalogue } from '@millrace/contracts';
import { WorkerStore } from '@millrace/deployments';
import type { Engine, EngineResult, EngineRunContext, EngineWork } from '@millrace/engines';
import {
  composeExecution,
  composeSubmission,
  jobSettings,
  type JobExecution,
  type JobSubmission,
} from '@millrace/jobs';
import { LaneConsumer, RedisConnections } from '@millrace/messaging';
import { KeyRing, Metrics, createLogger, readSettings } from '@millrace/platform';
import { createTestDatabase, eventually, makeAccount, testRedisUrl, type TestDatabase } from '@millrace/testing';
import { DatabaseRegistry } from './pool-registry';
import { WorkFolder } from './work-files';
import { PoolWorker } from './worker';

const catalogue: NodeCatalogue = {
  Show: { displayName: 'Show', category: '', description: '', inputs: {}, outputs: [], outputNode: true },
};
const logger = createLogger('test', 'fatal');
/** Longer than any test, also on a busy machine. */
const LEASE_SECONDS = 600;
const settings = {
  ...readSettings({ ...jobSettings, ...billingSettings, ...assetSettings }, {}),
  leaseSeconds: LEASE_SECONDS,
};
const RUN_MS = 40;

let test: TestDatabase;
let redis: RedisConnections;
let folder: string;
let assets: Assets;
let jobs: JobExecution;
let submission: JobSubmission;
beforeAll(async () => {
  test = await createTestDatabase();
  redis = new RedisConnections(testRedisUrl(), logger);
  folder = await mkdtemp(join(tmpdir(), 'millrace-sick-test-'));
  const { database } = test;
  const store = await openBlobStore({ ...settings, blobDir: join(folder, 'blobs') });
  assets = composeAssets({ database, store, settings });
  const parts = {
    database,
    redis,
    logger,
    metrics: new Metrics('test'),
    settings,
    secretKey: KeyRing.of(Buffer.alloc(32, 1)),
  };
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
  await jobs.close();
  await submission.close();
  await redis.close();
  await test.drop();
  await rm(folder, { recursive: true });
});

/** An engine that can fall ill: it is not ready then, and loses what it runs. */
class FrailEngine implements Engine {
  readonly kind = 'cpu';
  isIll = false;
  /** What becomes of a run while it is ill. */
  loss: 'lost' | 'disk_failed' = 'lost';
  runs = 0;
  start = (): Promise<void> => Promise.resolve();
  close = this.start;
  reset = this.start;
  catalogue = (): Promise<NodeCatalogue> => Promise.resolve(catalogue);
  health = () =>
    Promise.resolve({
      ready: !this.isIll,
      problem: this.isIll ? 'The engine is ill.' : null,
      version: 'test',
      residentModels: [],
    });

  async run(_work: EngineWork, context: EngineRunContext): Promise<EngineResult> {
    this.runs += 1;
    context.onEvent({ type: 'started' });
    await new Promise((resolve) => setTimeout(resolve, RUN_MS));
    return this.isIll ? { status: this.loss, reason: 'the engine is ill' } : { status: 'succeeded' };
  }
}

/** A pool whose workers, one for each list of engines, take messages from its lane. */
class Pool {
  readonly id = `pool-${newId()}`;
  private readonly members: { id: string; worker: PoolWorker; lane: LaneConsumer; metrics: Metrics }[] = [];
  /** The numbers of the workers whose connections to PostgreSQL are refused. */
  readonly cutOff = new Set<number>();
  /** Messages that each worker received from the lane. */
  readonly received: number[] = [];
  private accountId = '';
  private dispatching: NodeJS.Timeout | undefined;

  async open(engines: Engine[][]): Promise<void> {
    this.accountId = await makeAccount(test.database, { micros: 0n });
    for (const each of engines) await this.join(each);
    // The dispatch loop's work. Nobody does that of the loop which puts messages back: a swallowed one would never come again.
    this.dispatching = setInterval(() => jobs.dispatcher.requestDispatch(this.id), 200);
  }

  private async join(engines: Engine[]): Promise<void> {
    const index = this.members.length;
    const id = newId();
    const metrics = new Metrics('test');
    this.received.push(0);
    const reach = (): void => {
      if (this.cutOff.has(index)) throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
    };
    const registry = new DatabaseRegistry(test.database);
    const heartbeat = registry.heartbeat.bind(registry);
    registry.heartbeat = async (...report) => {
      reach();
      return heartbeat(...report);
    };
    const worker = new PoolWorker({
      identity: { id, poolId: this.id, version: 'test' },
      registry,
      claims: {
        take: async (...offer) => {
          reach();
          return jobs.claims.take(...offer);
        },
      },
      engines,
      recordsOf: () => ({ jobs, assets }),
      attempt: {
        logger,
        metrics,
        leaseSeconds: LEASE_SECONDS,
        maxOutputsPerJob: 10,
        logTailBytes: 64,
      },
      workFolder: new WorkFolder(this.workDir(index), logger),
      logger,
      drainMs: 100,
      warmUpLimitMs: 60_000,
      prefetchLimitMs: 60_000,
      onCapacity: (capacity) => lane.setCapacity(capacity),
    });
    const lane = new LaneConsumer(
      redis.consumer(),
      this.id,
      (message) => {
        this.received[index] = (this.received[index] ?? 0) + 1;
        return worker.take(message);
      },
      (left) => jobs.dispatcher.leave(this.id, left),
      () => undefined,
    );
    this.members.push({ id, worker, lane, metrics });
    await worker.start();
  }

  /** The folder for the files of a worker's attempts. */
  workDir(index: number): string {
    return join(folder, `${this.id}-${index}`);
  }

  async submit(count: number): Promise<string[]> {
    const { accountId } = this;
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const { job } = await submission.submissions.submit({
        caller: {
          accountId,
          apiKeyId: null,
          scopes: new Set(),
          labels: null,
          accountStatus: 'active',
          limits: DEFAULT_LIMITS,
        },
        scope: { accountId, surface: 'self_hosted', deploymentId: null, labels: null },
        body: Buffer.from(JSON.stringify({ workflow: { '1': { class_type: 'Show', inputs: {} } } })),
        target: () =>
          Promise.resolve({
            poolId: this.id,
            catalogue,
            catalogueDigest: 'test',
            queueLimit: null,
            priceMicrosPerSecond: 0n,
          }),
        idempotencyKey: undefined,
        traceparent: null,
      });
      ids.push(job.id);
    }
    return ids;
  }

  /** Resolves when all of the jobs have succeeded. */
  async haveSucceeded(ids: string[]): Promise<void> {
    const where = { id: { in: ids }, status: 'succeeded' } as const;
    await eventually(
      'the jobs to succeed',
      async () => (await test.database.models.job.count({ where })) === ids.length,
    );
  }

  async attemptsOf(ids: string[]): Promise<number> {
    return test.database.models.jobAttempt.count({ where: { jobId: { in: ids } } });
  }

  /** How attempts ended, in no order: each outcome once. */
  async outcomesOf(ids: string[]): Promise<(string | null)[]> {
    const where = { jobId: { in: ids } };
    const attempts = await test.database.models.jobAttempt.findMany({ where, distinct: ['outcome'] });
    return attempts.map(({ outcome }) => outcome);
  }

  /** A worker as operators see it. */
  async seen(index: number): Promise<object> {
    const id = this.members[index]?.id ?? '';
    const workers = await new WorkerStore().list(test.database, { poolId: this.id, withStopped: false });
    const { state, problem, capacity } = workers.find((worker) => worker.id === id) ?? {};
    const metric = await this.members[index]?.metrics.workerCapacity.get();
    return { state, problem, capacity, metric: metric?.values[0]?.value };
  }

  async close(): Promise<void> {
    clearInterval(this.dispatching);
    for (const { lane, worker } of this.members) {
      await Promise.all([lane.drain(), worker.drain()]);
      await lane.close();
      await worker.stop();
    }
  }
}

describe('a worker whose engine is sick', () => {
  let pool: Pool;
  beforeEach(() => (pool = new Pool()));
  afterEach(() => pool.close());

  it('leaves the lane to the others until the engine is well, and swallows nothing', async () => {
    const [sick, well] = [new FrailEngine(), new FrailEngine()];
    await pool.open([[sick], [well]]);
    sick.isIll = true;
    await eventually('it to be known as sick', async () => !(await isTaking(pool, 0)));
    expect(await pool.seen(0)).toEqual({ state: 'starting', problem: 'The engine is ill.', capacity: 1, metric: 0 });
    const before = pool.received[0] ?? 0;
    const ids = await pool.submit(30);
    await pool.haveSucceeded(ids);
    expect((pool.received[0] ?? 0) - before).toBeLessThanOrEqual(2);
    expect({ runs: sick.runs, attempts: await pool.attemptsOf(ids) }).toEqual({ runs: 0, attempts: 30 });
    sick.isIll = false;
    await eventually('it to be back', () => isTaking(pool, 0));
    await pool.haveSucceeded(await pool.submit(10));
    expect(sick.runs).toBeGreaterThan(0);
  });

  it.each(['lost', 'disk_failed'] as const)(
    'costs no more than the one attempt that its engine ended as %s',
    async (loss) => {
      const [sick, well] = [new FrailEngine(), new FrailEngine()];
      sick.loss = loss;
      await pool.open([[sick], [well]]);
      sick.isIll = true;
      const ids = await pool.submit(20);
      await pool.haveSucceeded(ids);
      expect(sick.runs).toBeLessThanOrEqual(1);
      expect(await pool.attemptsOf(ids)).toBe(20 + sick.runs);
      expect(pool.received[0]).toBeLessThanOrEqual(2);
    },
  );

  it('gives back what it took when no other worker is there, and runs it once it is well', async () => {
    const engine = new FrailEngine();
    await pool.open([[engine]]);
    engine.isIll = true;
    const ids = await pool.submit(3);
    await eventually('it to be known as sick', async () => !(await isTaking(pool, 0)));
    engine.isIll = false;
    await pool.haveSucceeded(ids);
    expect(await pool.attemptsOf(ids)).toBeLessThanOrEqual(4);
  });

  it('goes on with the engines that are well, and reports to have so many', async () => {
    const [sick, well] = [new FrailEngine(), new FrailEngine()];
    await pool.open([[sick, well]]);
    sick.isIll = true;
    const sees = async (): Promise<boolean> => ((await pool.seen(0)) as { metric: number }).metric === 1;
    await eventually('one engine to be known as sick', sees);
    const seen = { state: 'ready', problem: 'The engine is ill.', capacity: 1, metric: 1 };
    await eventually('the pool to know', async () => JSON.stringify(await pool.seen(0)) === JSON.stringify(seen));
    const ids = await pool.submit(10);
    await pool.haveSucceeded(ids);
    expect({ runs: sick.runs, attempts: await pool.attemptsOf(ids) }).toEqual({ runs: 0, attempts: 10 });
    sick.isIll = false;
    const isBack = async (): Promise<boolean> => ((await pool.seen(0)) as { capacity: number }).capacity === 2;
    await eventually('both to be back', isBack);
    await pool.haveSucceeded(await pool.submit(10));
    expect(sick.runs).toBeGreaterThan(0);
  });
});

describe('a worker whose disk takes nothing', () => {
  let pool: Pool;
  beforeEach(() => (pool = new Pool()));
  afterEach(() => pool.close());

  it('leaves the lane to the others until it does, and costs no job an attempt', async () => {
    const [ill, well] = [new FrailEngine(), new FrailEngine()];
    await pool.open([[ill], [well]]);
    await writeFile(pool.workDir(0), 'in the way');
    const ids = await pool.submit(30);
    await pool.haveSucceeded(ids);
    await eventually('the pool to know', async () => !(await isTaking(pool, 0)));
    const problem = expect.stringContaining('cannot be written to') as string;
    expect(await pool.seen(0)).toEqual({ state: 'starting', problem, capacity: 1, metric: 0 });
    expect(ill.runs).toBe(0);
    expect((await pool.outcomesOf(ids)).sort()).toEqual(['handed_back', 'succeeded']);
    // Its probes fail, so that it never comes back to the lane.
    expect(await pool.attemptsOf(ids)).toBe(31);
    expect(pool.received[0]).toBeLessThanOrEqual(3);
    await rm(pool.workDir(0));
    await eventually('it to be back', () => isTaking(pool, 0));
    await pool.haveSucceeded(await pool.submit(10));
    expect(ill.runs).toBeGreaterThan(0);
  });

  it('gives back what it took when no other worker is there, and runs it once it can', async () => {
    await pool.open([[new FrailEngine()]]);
    await writeFile(pool.workDir(0), 'in the way');
    const ids = await pool.submit(3);
    await eventually('it to be known', async () => !(await isTaking(pool, 0)));
    await rm(pool.workDir(0));
    await pool.haveSucceeded(ids);
    expect(await pool.attemptsOf(ids)).toBe(4);
  });
});

describe('a worker that reaches Redis, but not PostgreSQL', () => {
  let pool: Pool;
  beforeEach(() => (pool = new Pool()));
  afterEach(() => pool.close());

  it('leaves the lane to the others until it does, and swallows nothing', async () => {
    const [cutOff, well] = [new FrailEngine(), new FrailEngine()];
    await pool.open([[cutOff], [well]]);
    pool.cutOff.add(0);
    const ids = await pool.submit(30);
    await pool.haveSucceeded(ids);
    expect({ runs: cutOff.runs, attempts: await pool.attemptsOf(ids) }).toEqual({ runs: 0, attempts: 30 });
    expect(pool.received[0]).toBeLessThanOrEqual(3);
    pool.cutOff.clear();
    await eventually('it to be back', async () => ((await pool.seen(0)) as { metric: number }).metric === 1);
    await pool.haveSucceeded(await pool.submit(10));
    expect(cutOff.runs).toBeGreaterThan(0);
  });

  it('gives back what it took when no other worker is there, and runs it once it can', async () => {
    await pool.open([[new FrailEngine()]]);
    pool.cutOff.add(0);
    const ids = await pool.submit(3);
    await eventually('it to take nothing', async () => ((await pool.seen(0)) as { metric: number }).metric === 0);
    pool.cutOff.clear();
    await pool.haveSucceeded(ids);
    expect(await pool.attemptsOf(ids)).toBe(3);
  });
});

async function isTaking(pool: Pool, index: number): Promise<boolean> {
  return ((await pool.seen(index)) as { state: string }).state === 'ready';
}
