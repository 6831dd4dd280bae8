import {
  CatalogueReader,
  CatalogueStore,
  DeploymentLife,
  DeploymentLifeStore,
  DeploymentStore,
  DeploymentVersionStore,
  DeploymentVersioning,
  DeploymentsService,
  EngineClassStore,
  PoolStore,
  Targets,
  WorkerStore,
  readEngineClasses,
} from '@millrace/deployments';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { JobAudit } from '../audit';
import { JobWorld, endingOf } from '../fixtures/job-world';
import { RetiredJobs } from './retired-jobs.service';
import { RetiredPoolStore } from './retired-pool.store';

const PLATFORM_PRICE = 1_000n;
const CLASSES = [
  { name: 'cpu', engine: 'cpu', priceMicrosPerSecond: 10 },
  { name: 'large-gpu', engine: 'cpu', priceMicrosPerSecond: 900 },
];
const ALLOWANCE = { deployments: 100, workers: 100 };
/** What 20 s of a job cost on each class. */
const ON_CPU = 200n;
const ON_GPU = 18_000n;

let test: TestDatabase;
let jobs: JobWorld;
let life: DeploymentLife;
let versioning: DeploymentVersioning;
let retired: RetiredJobs;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase();
  jobs = new JobWorld(test);
  const { database } = test;
  const classes = new EngineClassStore();
  await classes.reconcile(database, readEngineClasses(JSON.stringify({ classes: CLASSES })));
  const versions = new DeploymentVersionStore();
  life = new DeploymentLife(
    database,
    new DeploymentsService(database, new DeploymentStore()),
    new DeploymentLifeStore(),
    versions,
    classes,
    new CatalogueReader(database, new CatalogueStore()),
    () => Promise.resolve(0),
    () => Promise.resolve([]),
  );
  versioning = new DeploymentVersioning(database, freshProcess(), life, versions);
  retired = new RetiredJobs(database, new RetiredPoolStore(PLATFORM_PRICE), () => undefined);
  accountId = await makeAccount(database, { micros: 10_000_000n });
});
afterAll(() => test.drop());

/** The deployments as a process knows them that has read none yet. */
function freshProcess(): DeploymentsService {
  return new DeploymentsService(test.database, new DeploymentStore());
}

/** A deployment of the account on this class, with a worker that is ready. */
async function deploy(engineClass: string): Promise<string> {
  const order = {
    ...{ accountId, name: 'a test', demo: false, engineClass, warmUp: null, models: [], priceMicrosPerSecond: null },
    ...{ queueLimit: null, attemptLimitSeconds: null, minWorkers: 1, maxWorkers: 1, idleSeconds: 60 },
  };
  const { id } = await test.database.transaction((tx) => life.create(tx, order, null));
  await serve(id);
  return id;
}

/** A worker of a pool becomes ready. */
async function serve(poolId: string): Promise<void> {
  const id = newId();
  const workers = new WorkerStore();
  const facts = { id, poolId, engine: 'cpu', version: 'test', host: 'test', pid: 1, capacity: 1 };
  await workers.register(test.database, facts);
  await new CatalogueStore().publish(test.database, poolId, 'cpu', {});
  await workers.heartbeat(test.database, id, { state: 'ready', residentModels: [], problem: null });
}

/** Submit jobs where a process of the service places them now, at the price that it shows. */
async function submit(deploymentId: string, count: number): Promise<string> {
  const { database } = test;
  const catalogues = new CatalogueReader(database, new CatalogueStore());
  const targets = new Targets(database, new PoolStore(), catalogues, freshProcess(), PLATFORM_PRICE);
  const { poolId, priceMicrosPerSecond } = await targets.deployment(deploymentId);
  const holdMicros = priceMicrosPerSecond * 60n;
  const draft = { accountId, deploymentId, surface: 'deployment' as const, poolId, priceMicrosPerSecond, holdMicros };
  for (let made = 0; made < count; made += 1) await jobs.submit(draft);
  return poolId;
}

const change = (id: string, engineClass: string): Promise<unknown> =>
  test.database.transaction((tx) => life.change(tx, id, { engineClass }, ALLOWANCE));

/** Have workers of a pool run all that waits there, 20 s each. @returns what each job was charged. */
async function run(poolId: string): Promise<(bigint | null | undefined)[]> {
  const charged = [];
  for (;;) {
    const next = await jobs.dispatch(poolId);
    const claimed = next === null ? null : await jobs.claim(next);
    if (claimed === null) return charged;
    await jobs.claimedSecondsAgo(claimed.jobId, 60);
    await jobs.beat(claimed, 10_000);
    charged.push((await jobs.end(claimed, endingOf('succeeded', { engineMs: 20_000 })))?.chargedMicros);
  }
}

async function findings(): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const finding of new JobAudit(test.database).findings()) found.push(finding);
  return found;
}

describe('a job is charged the price of the class that runs it', () => {
  it('when its account has a cheap version accept it, and rolls back to a dear one, again and again', async () => {
    const { database } = test;
    const id = await deploy('large-gpu');
    await versioning.add(database, id, { engineClass: 'cpu' }, 100, ALLOWANCE);
    await serve(`${id}-v2`);
    for (let round = 0; round < 2; round += 1) {
      await versioning.weigh(database, id, 2, 100, 'account');
      expect(await submit(id, 3)).toBe(`${id}-v2`);
      await versioning.rollBack(database, id, 'account');
      expect(await retired.moveOn(id)).toBe(3);
      expect(await run(id)).toEqual([ON_GPU, ON_GPU, ON_GPU]);
    }
    expect(await run(`${id}-v2`)).toEqual([]);
    expect(await findings()).toEqual([]);
  });

  it('unless an operator took its version out of use: then it keeps its price, also where the account acts before it moves', async () => {
    const { database } = test;
    const acts = [
      (id: string) => versioning.rollBack(database, id, 'account'),
      (id: string) => versioning.weigh(database, id, 2, 0, 'account'),
      (id: string) => versioning.end(database, id, 2, 'account'),
    ];
    for (const act of acts) {
      const id = await deploy('large-gpu');
      await versioning.add(database, id, { engineClass: 'cpu' }, 100, ALLOWANCE);
      await serve(`${id}-v2`);
      await submit(id, 2);
      await versioning.rollBack(database, id, 'operator');
      await act(id);
      expect(await retired.moveOn(id)).toBe(2);
      expect(await run(id)).toEqual([ON_CPU, ON_CPU]);
    }
    expect(await findings()).toEqual([]);
  });

  it('also where an operator took it out of use before, and the account has given its version a share again', async () => {
    const { database } = test;
    const id = await deploy('large-gpu');
    await versioning.add(database, id, { engineClass: 'cpu' }, 100, ALLOWANCE);
    await serve(`${id}-v2`);
    await versioning.rollBack(database, id, 'operator');
    await versioning.weigh(database, id, 2, 100, 'account');
    expect(await submit(id, 1)).toBe(`${id}-v2`);
    await versioning.rollBack(database, id, 'account');
    expect(await retired.moveOn(id)).toBe(1);
    expect(await run(id)).toEqual([ON_GPU]);
  });

  it('unless an operator ended its version, also where the account changes the class before it moves', async () => {
    const { database } = test;
    const id = await deploy('cpu');
    await submit(id, 1);
    await versioning.add(database, id, {}, 0, ALLOWANCE);
    await versioning.end(database, id, 1, 'operator');
    await change(id, 'large-gpu');
    expect(await retired.moveOn(id)).toBe(1);
    await serve(`${id}-v3`);
    expect(await run(`${id}-v3`)).toEqual([ON_CPU]);
  });

  it('when its deployment changes to a cheap class that does not start: the dear one runs what it has, and nothing more', async () => {
    const id = await deploy('large-gpu');
    await submit(id, 2);
    const running = await jobs.start({ poolId: id });
    await jobs.claimedSecondsAgo(running.jobId, 60);
    await change(id, 'cpu');
    expect(await retired.moveOn(id)).toBe(1);
    expect(await run(id)).toEqual([]);
    await expect(submit(id, 1)).rejects.toMatchObject({ code: 'deployment_not_ready' });
    expect((await jobs.end(running, endingOf('succeeded', { engineMs: 20_000 })))?.chargedMicros).toBe(ON_GPU);
    await serve(`${id}-v2`);
    expect(await submit(id, 1)).toBe(`${id}-v2`);
    expect(await run(`${id}-v2`)).toEqual([ON_CPU, ON_CPU]);
    expect(await findings()).toEqual([]);
  });

  it('when its deployment changes to a dear class: nothing is charged at that price before it runs', async () => {
    const id = await deploy('cpu');
    await submit(id, 2);
    const running = await jobs.start({ poolId: id });
    await jobs.claimedSecondsAgo(running.jobId, 60);
    await change(id, 'large-gpu');
    expect(await retired.moveOn(id)).toBe(1);
    await expect(submit(id, 1)).rejects.toMatchObject({ code: 'deployment_not_ready' });
    expect((await jobs.end(running, endingOf('succeeded', { engineMs: 20_000 })))?.chargedMicros).toBe(ON_CPU);
    expect(await run(id)).toEqual([]);
    await serve(`${id}-v2`);
    expect(await run(`${id}-v2`)).toEqual([ON_GPU]);
    expect(await findings()).toEqual([]);
  });
});
