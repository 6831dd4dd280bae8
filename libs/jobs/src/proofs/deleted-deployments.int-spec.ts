import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { Prisma, type Deployment } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import {
  CatalogueReader,
  CatalogueStore,
  DeploymentLife,
  DeploymentLifeStore,
  DeploymentStore,
  DeploymentVersionStore,
  DeploymentsService,
  EngineClassStore,
} from '@millrace/deployments';
import { readSettings } from '@millrace/platform';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { recordInOne } from '../batches/batch-groups';
import { BatchJobStore } from '../batches/batch-job.store';
import { BatchRecorder } from '../batches/batch-recorder';
import { JobWorld, type TestDraft } from '../fixtures/job-world';
import { jobSettings } from '../job.settings';
import { AccountQueueStore } from '../rotation/account-queue.store';
import { DrainedDeploymentStore } from '../rotation/drained-deployment.store';
import { GroupStore } from '../submission/group.store';

const SETTINGS = readSettings(jobSettings, {});
const LOCK_WAIT_MS = 5_000;
const JOBS = 3;
/** A version beside a deployment's own. */
const VERSION = {
  ...{ engine: 'cpu' as const, engineClass: 'cpu', priceMicrosPerSecond: null, warmUp: null, models: [] },
  ...{ queueLimit: null, attemptLimitSeconds: null, minWorkers: 0, maxWorkers: 1, idleSeconds: 0 },
};
const versions = new DeploymentVersionStore();

let test: TestDatabase;
let world: JobWorld;
let life: DeploymentLife;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
  const { database } = test;
  life = new DeploymentLife(
    database,
    new DeploymentsService(database, new DeploymentStore()),
    new DeploymentLifeStore(),
    versions,
    new EngineClassStore(),
    new CatalogueReader(database, new CatalogueStore()),
    (tx, id) => new AccountQueueStore().livingIn(tx, id),
    () => Promise.resolve([]),
  );
});
afterAll(() => test.drop());

/** Jobs for a deployment, as they were examined. */
async function deployedDrafts(): Promise<{ id: string; drafts: TestDraft[] }> {
  const accountId = await makeAccount(test.database, { micros: 1_000_000n });
  const { poolId } = await makePool(test.database);
  const id = newId();
  await test.database.models.deployment.create({ data: { id, accountId, name: 'a test', poolId } });
  const drafts: TestDraft[] = [];
  for (let n = 0; n < JOBS; n += 1) {
    drafts.push(await world.draft({ accountId, poolId, deploymentId: id, surface: 'deployment' }));
  }
  return { id, drafts };
}

type Write = (tx: Statements, drafts: readonly TestDraft[]) => Promise<unknown>;
const batches = new BatchJobStore(SETTINGS);

/** What records jobs, the way in which a test has it do so. */
const WRITES: [string, Write][] = [
  ['a submission', (tx, [draft]) => world.submissions.record(tx, draft as TestDraft)],
  ['a group of submissions', (tx, drafts) => new GroupStore(SETTINGS).record(tx, drafts, LOCK_WAIT_MS)],
  ['a batch', (tx, drafts) => new BatchRecorder(batches).record(tx, drafts.length, [drafts])],
];

const remove = (id: string, drain = false): Promise<string> =>
  test.database.transaction((tx) => life.remove(tx, id, drain));
const waitsForLock = async (): Promise<boolean> => {
  const [row] = await test.database.rows<{ waiting: boolean }>(Prisma.sql`
    SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') AS waiting`);
  return row?.waiting ?? false;
};
const deploymentOf = (id: string): Promise<Deployment> =>
  test.database.models.deployment.findUniqueOrThrow({ where: { id } });
const isDeleted = async (id: string): Promise<boolean> => (await deploymentOf(id)).deletedAt !== null;
const jobsOf = (deploymentId: string): Promise<number> => test.database.models.job.count({ where: { deploymentId } });

describe.each(WRITES)('while %s is recorded', (_what, write) => {
  it('its deployment is not deleted: what was not committed yet counts', async () => {
    const { id, drafts } = await deployedDrafts();
    const beside = AsyncLocalStorage.snapshot();
    await recordInOne(test.database, async (tx) => {
      await write(tx, drafts);
      const [refused, drained] = await beside(async () => [
        await remove(id).catch((error: unknown) => error),
        await remove(id, true),
      ]);
      expect(refused).toMatchObject({ code: 'deployment_busy' });
      expect(drained).toBe('draining');
    });
    expect(await jobsOf(id)).toBeGreaterThan(0);
    expect(await isDeleted(id)).toBe(false);
  });

  it('it waits for a deletion that is under way, and is refused then', async () => {
    const { id, drafts } = await deployedDrafts();
    const beside = AsyncLocalStorage.snapshot();
    let recording: Promise<unknown> = Promise.resolve();
    await test.database.transaction(async (tx) => {
      expect(await life.remove(tx, id, false)).toBe('deleted');
      recording = beside(() =>
        recordInOne(test.database, (other) => write(other, drafts)).catch((error: unknown) => error),
      );
      await beside(() => eventually('the jobs wait for the deletion', waitsForLock));
    });
    expect(await recording).toMatchObject({ reason: 'deployment_deleted' });
    expect(await jobsOf(id)).toBe(0);
  });

  it('it is refused for a deployment that takes no more, until its jobs are over', async () => {
    const { id, drafts } = await deployedDrafts();
    await test.database.transaction((tx) => new DeploymentLifeStore().drain(tx, id));
    const recording = recordInOne(test.database, (tx) => write(tx, drafts));
    await expect(recording).rejects.toMatchObject({ reason: 'deployment_deleting' });
    expect(await jobsOf(id)).toBe(0);
  });

  it('no sweep deletes its deployment, which was to drain meanwhile', async () => {
    const { id, drafts } = await deployedDrafts();
    const beside = AsyncLocalStorage.snapshot();
    const store = new DrainedDeploymentStore();
    const sweep = async (): Promise<[boolean, number]> => {
      const isListed = (await store.listDrained(test.database, -1, 1_000)).includes(id);
      return [isListed, await test.database.transaction((tx) => store.remove(tx, [id]))];
    };
    await recordInOne(test.database, async (tx) => {
      await write(tx, drafts);
      await beside(() => remove(id, true));
      expect(await beside(sweep)).toEqual([true, 0]);
    });
    expect(await sweep()).toEqual([false, 0]);
  });
});

it('a batch whose deployment is deleted before its last statement is recorded not at all', async () => {
  const { id, drafts } = await deployedDrafts();
  const beside = AsyncLocalStorage.snapshot();
  const recorder = new BatchRecorder({
    open: (...args) => batches.open(...args),
    assertAffordable: (...args) => batches.assertAffordable(...args),
    write: (...args) => batches.write(...args),
    count: async (...args) => {
      expect(await beside(() => remove(id))).toBe('deleted');
      return batches.count(...args);
    },
  });
  const recording = recordInOne(test.database, (tx) => recorder.record(tx, drafts.length, [drafts]));
  await expect(recording).rejects.toMatchObject({ reason: 'deployment_deleted' });
  expect(await jobsOf(id)).toBe(0);
});

/** What changes a deployment: its own columns, and the version that is its own. */
const CHANGES: [string, (tx: Statements, id: string) => Promise<unknown>][] = [
  [
    'a wish for a worker',
    (tx, id) => tx.execute(Prisma.sql`UPDATE deployments SET wanted_at = now() WHERE id = ${id}::uuid`),
  ],
  ['the end of its own version', (tx, id) => versions.endOwn(tx, id, 'account')],
  ['another version in the place of its own', (tx, id) => versions.replaceOwn(tx, id, 3)],
];

it.each(CHANGES)('%s does not wait for what is submitted to the deployment', async (_what, change) => {
  const { id, drafts } = await deployedDrafts();
  await versions.add(test.database, id, 2, VERSION, 0);
  const before = await deploymentOf(id);
  const beside = AsyncLocalStorage.snapshot();
  await test.database.transaction(async (tx) => {
    await world.submissions.record(tx, drafts[0] as TestDraft);
    await beside(() =>
      test.database.transaction(async (other) => {
        await other.execute(Prisma.sql`SET LOCAL lock_timeout = 100`);
        await change(other, id);
      }),
    );
  });
  expect(await deploymentOf(id)).not.toEqual(before);
});

it('a job of a deployment that nobody knows is recorded as ever', async () => {
  const draft = await world.draft({ deploymentId: randomUUID(), surface: 'deployment' });
  await expect(world.submissions.record(test.database, draft)).resolves.toMatchObject({ id: draft.id });
});
