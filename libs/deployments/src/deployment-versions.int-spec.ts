import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { eventually } from '@millrace/testing';
import type { DeploymentLife } from './deployment-life.service';
import { WorkerStartStore } from './starts';
import { deploymentOfPool, DeploymentVersionStore } from './versions';
import { DeploymentVersioning, versionsOf } from './deployment-versions.service';
import type { Deployment } from './deployment';
import { DeploymentWorld, VERSION } from './fixtures/deployment-world';

let world: DeploymentWorld;
let life: DeploymentLife;
let versioning: DeploymentVersioning;
beforeAll(async () => {
  world = await DeploymentWorld.open();
  await world.offer([
    { name: 'cpu', engine: 'cpu' },
    { name: 'dear', engine: 'cpu', priceMicrosPerSecond: 90 },
  ]);
  life = world.life;
  versioning = new DeploymentVersioning(world.test.database, world.service, life, new DeploymentVersionStore());
});
afterAll(() => world.test.drop());

const add = (id: string, more: object = {}, weight = 0): Promise<Deployment> =>
  versioning.add(world.test.database, id, more, weight, null);
const sharesOf = (deployment: Deployment): [number, number, string][] =>
  versionsOf(deployment).map(({ version, weight, engineClass }) => [version, weight, engineClass]);
const poolsPicked = async (id: string): Promise<Set<string>> => {
  world.service.forget(id);
  const seeds = Array.from({ length: 40 }, (_, index) => `${index}`);
  return new Set(await Promise.all(seeds.map(async (seed) => (await world.targets.deployment(id, { seed })).poolId)));
};
/** A deployment with a worker that is ready, and another version beside it. */
async function two(more: object, weight: number): Promise<Deployment> {
  const { id, poolId } = await world.create();
  await world.addReadyWorker(poolId);
  const both = await add(id, more, weight);
  return both;
}

/** Do one act, and have another one begin before it is committed. @returns what the other one comes to, which has waited for it or has not. */
async function beside<T>(
  first: (tx: Statements) => Promise<unknown>,
  second: (tx: Statements) => Promise<T>,
): Promise<T> {
  const { database } = world.test;
  let commit = (): void => undefined;
  const mayCommit = new Promise<void>((resolve) => (commit = resolve));
  let held = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    held = database.transaction(async (tx) => {
      await first(tx);
      resolve();
      await mayCommit;
    });
    held.catch(reject);
  });
  let isOver = false;
  const other = database.transaction(second).finally(() => (isOver = true));
  other.catch(() => undefined);
  const isWaiting = Prisma.sql`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await eventually('the other act to wait', async () => isOver || (await database.query(isWaiting)).length > 0);
  commit();
  await held;
  return other;
}

describe('an act that waits for another one', () => {
  const allowance = { deployments: 5, workers: 4 };

  it('changes the version that stays only as that may be changed', async () => {
    const { id } = await world.create({ maxWorkers: 3 });
    await add(id, { minWorkers: 2, maxWorkers: 2 });
    const changed = beside(
      (tx) => versioning.end(tx, id, 1, 'account'),
      (tx) => life.change(tx, id, { maxWorkers: 1 }, allowance),
    );
    await expect(changed).rejects.toMatchObject({ details: { fields: [{ field: 'max_workers' }] } });
    expect(await world.service.getOfAny(id)).toMatchObject({ version: 2, minWorkers: 2, maxWorkers: 2 });
  });

  it('finds no room that the other one has taken', async () => {
    const { id } = await world.create();
    const changed = beside(
      (tx) => versioning.add(tx, id, { maxWorkers: 2 }, 0, allowance),
      (tx) => life.change(tx, id, { maxWorkers: 3 }, allowance),
    );
    await expect(changed).rejects.toMatchObject({ code: 'deployment_limit' });
  });

  it('does not delete what the other one has deleted', async () => {
    const { id } = await world.create();
    const removed = beside(
      (tx) => life.remove(tx, id, false),
      (tx) => life.remove(tx, id, false),
    );
    await expect(removed).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('another version of a deployment', () => {
  it('has a pool of its own, is made of what the present one is and of what was ordered, and shares the jobs', async () => {
    const both = await two({ engineClass: 'dear', maxWorkers: 3 }, 10);
    expect(sharesOf(both)).toEqual([
      [1, 90, 'cpu'],
      [2, 10, 'dear'],
    ]);
    expect(both.beside).toMatchObject({
      poolId: `${both.id}-v2`,
      priceMicrosPerSecond: 90n,
      maxWorkers: 3,
      idleSeconds: both.idleSeconds,
      state: 'provisioning',
    });
  });

  it('takes no jobs until it is ready, and then its share', async () => {
    const { id } = await two({}, 50);
    expect(await poolsPicked(id)).toEqual(new Set([id]));
    await world.addReadyWorker(`${id}-v2`);
    expect(await poolsPicked(id)).toEqual(new Set([id, `${id}-v2`]));
    await versioning.weigh(world.test.database, id, 2, 100, 'account');
    expect(await poolsPicked(id)).toEqual(new Set([`${id}-v2`]));
    await versioning.rollBack(world.test.database, id, 'account');
    expect(await poolsPicked(id)).toEqual(new Set([id]));
  });

  it('that is to take all leaves all to the present one until it is ready', async () => {
    const { id } = await two({ engineClass: 'dear' }, 100);
    expect(await poolsPicked(id)).toEqual(new Set([id]));
    expect((await world.targets.deployment(id)).priceMicrosPerSecond).toBe(7n);
    const { wantedAt } = await world.test.database.models.deploymentVersion.findFirstOrThrow({
      where: { deploymentId: id },
    });
    expect(wantedAt).not.toBeNull();
    await world.addReadyWorker(`${id}-v2`);
    expect(await poolsPicked(id)).toEqual(new Set([`${id}-v2`]));
  });

  it('is the only one beside the present one', async () => {
    const { id } = await two({}, 10);
    await expect(add(id)).rejects.toMatchObject({ code: 'deployment_busy' });
    const at_once = await world.create();
    const both = await Promise.allSettled(
      [1, 2].map(() => world.test.database.transaction((tx) => versioning.add(tx, at_once.id, {}, 5, null))),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('becomes the deployment’s own when that ends, and the next one has another number', async () => {
    const { id } = await two({ engineClass: 'dear' }, 30);
    await world.addReadyWorker(`${id}-v2`);
    const left = await versioning.end(world.test.database, id, 1, 'account');
    expect(sharesOf(left)).toEqual([[2, 100, 'dear']]);
    expect(left).toMatchObject({ poolId: `${id}-v2`, priceMicrosPerSecond: 90n, state: 'ready' });
    expect(await poolsPicked(id)).toEqual(new Set([`${id}-v2`]));
    expect(sharesOf(await add(id, {}, 20))).toEqual([
      [2, 80, 'dear'],
      [3, 20, 'dear'],
    ]);
    const { ended } = await versioning.list(left);
    expect(ended).toMatchObject([{ number: 1, poolId: id, engineClass: 'cpu' }]);
    const back = await versioning.end(world.test.database, id, 3, 'account');
    expect(sharesOf(back)).toEqual([[2, 100, 'dear']]);
  });

  it('names the models of the present one unless it was ordered with others, and takes them along', async () => {
    const starts = new WorkerStartStore();
    const [mine, other] = ['known-1', 'known-2'].map((name) => [{ folder: 'vae', name }]);
    const { id, accountId } = await world.create({ models: mine });
    expect((await add(id)).beside?.models).toEqual(mine);
    await versioning.end(world.test.database, id, 2, 'account');
    await add(id, { models: other });
    const left = await versioning.end(world.test.database, id, 1, 'account');
    expect(left.models).toEqual(other);
    const namedFor = (poolId: string): Promise<unknown> => starts.models(world.test.database, poolId);
    expect(await namedFor(`${id}-v3`)).toEqual({ accountId, models: other });
    // Those of versions that have ended.
    expect([await namedFor(id), await namedFor(`${id}-v2`)]).toEqual([null, null]);
    await expect(add(id, { models: [{ folder: 'vae', name: 'strange' }] })).rejects.toMatchObject({
      details: { fields: [{ field: 'models.0' }] },
    });
  });

  it('counts among what an account may have', async () => {
    const { id } = await world.create();
    const allowance = { deployments: 5, workers: 2 };
    const none = versioning.add(world.test.database, id, { maxWorkers: 2 }, 0, allowance);
    await expect(none).rejects.toMatchObject({ code: 'deployment_limit' });
    await versioning.add(world.test.database, id, { maxWorkers: 1 }, 0, allowance);
  });

  it('finds no room that workers of an ended version still take, until they have stopped', async () => {
    const { id } = await world.create();
    const allowance = { deployments: 5, workers: 4 };
    const addNext = (): Promise<Deployment> => versioning.add(world.test.database, id, { maxWorkers: 3 }, 0, allowance);
    await addNext();
    const busy = [await world.addReadyWorker(`${id}-v2`), await world.addReadyWorker(`${id}-v2`)];
    await world.servedByFleet(`${id}-v2`);
    await versioning.end(world.test.database, id, 2, 'account');
    await expect(addNext()).rejects.toMatchObject({
      code: 'deployment_limit',
      message:
        'The deployments of this account may have 4 workers together; 1 are left for this one. 2 that are too many by now, or of versions that have ended, count until they have stopped.',
    });
    for (const worker of busy) await world.report(worker, 'stopped');
    expect((await addNext()).beside).toMatchObject({ version: 3, maxWorkers: 3 });
  });

  it('finds no room that workers still take of which a deployment has too many by now, but for those that joined by a token or that no fleet runs', async () => {
    const { database } = world.test;
    const { id, accountId, poolId } = await world.create({ maxWorkers: 3 });
    const allowance = { deployments: 5, workers: 4 };
    const workers = [await world.addReadyWorker(poolId), await world.addReadyWorker(poolId)];
    await life.change(database, id, { maxWorkers: 1 }, allowance);
    const order = { accountId, name: 'more', demo: false, ...VERSION, priceMicrosPerSecond: null, maxWorkers: 3 };
    const create = (): Promise<Deployment> => life.create(database, order, allowance);
    await life.remove(database, (await create()).id, false);
    await world.servedByFleet(poolId);
    await expect(create()).rejects.toMatchObject({ code: 'deployment_limit' });
    const token = { id: newId(), poolId, name: 'a test', hash: Buffer.alloc(32), createdAt: new Date() };
    await database.models.workerToken.create({ data: token });
    await database.models.worker.update({ where: { id: workers[0] ?? '' }, data: { tokenId: token.id } });
    expect((await create()).maxWorkers).toBe(3);
  });

  it('is refused by a number that no live version has, and where there is one alone', async () => {
    const { id } = await world.create();
    const { database } = world.test;
    await expect(versioning.weigh(database, id, 1, 50, 'account')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(versioning.rollBack(database, id, 'account')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(versioning.end(database, id, 1, 'account')).rejects.toMatchObject({ code: 'invalid_request' });
    await add(id);
    await expect(versioning.weigh(database, id, 3, 50, 'account')).rejects.toMatchObject({ code: 'not_found' });
  });
});

it.each([
  ['that is named', Prisma.sql`SELECT ${deploymentOfPool(Prisma.sql`${'a-pool'}`)}`],
  ['of each row', Prisma.sql`SELECT ${deploymentOfPool(Prisma.sql`p.id`)} FROM pools p`],
  ['that is joined', Prisma.sql`SELECT d.id FROM workers w JOIN deployments d ON d.pool_id = w.pool_id`],
])('the deployment of a pool %s is found by its index', async (_which, statement) => {
  const plan = await world.test.database.transaction(async (tx) => {
    await tx.execute(
      Prisma.sql`SELECT set_config(name, 'off', true) FROM unnest(ARRAY['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']) name`,
    );
    return tx.rows(Prisma.sql`EXPLAIN ${statement}`);
  });
  expect(JSON.stringify(plan)).toContain('using deployments_pool_key');
});
