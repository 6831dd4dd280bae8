import { newId } from '@millrace/contracts';
import { CatalogueStore } from './catalogue.store';
import type { Deployment } from './deployment';
import { DeploymentWorld, VERSION } from './fixtures/deployment-world';
import { DeploymentVersionStore } from './versions';

const ALLOWANCE = { deployments: 100, workers: 100 };

let world: DeploymentWorld;
beforeAll(async () => {
  world = await DeploymentWorld.open();
  await world.offer([
    { name: 'cpu', engine: 'cpu', priceMicrosPerSecond: 10 },
    { name: 'dear', engine: 'cpu', priceMicrosPerSecond: 90 },
    { name: 'dearer', engine: 'cpu', priceMicrosPerSecond: 91 },
  ]);
});
afterAll(() => world.test.drop());

/** A deployment of the class `cpu` at a price that an operator set. */
const priced = (): Promise<Deployment> => world.create({ priceMicrosPerSecond: 3n });
const change = (id: string, changes: object): Promise<Deployment> =>
  world.test.database.transaction((tx) => world.life.change(tx, id, changes, ALLOWANCE));

describe('another class that an account changes to', () => {
  it('is a version with a pool of its own, made as the one before that has ended', async () => {
    const { id, poolId } = await world.create({
      queueLimit: 5,
      minWorkers: 1,
      maxWorkers: 2,
      priceMicrosPerSecond: 10n,
    });
    await world.addReadyWorker(poolId);
    const changed = await change(id, { engineClass: 'dear', attemptLimitSeconds: 60 });
    expect(changed).toMatchObject({
      ...{ version: 2, poolId: `${id}-v2`, engineClass: 'dear', priceMicrosPerSecond: 90n, state: 'provisioning' },
      ...{ queueLimit: 5, attemptLimitSeconds: 60, minWorkers: 1, maxWorkers: 2, beside: null, weight: 100 },
    });
    const { models } = world.test.database;
    const [before, { wantedAt }] = await Promise.all([
      models.deploymentVersion.findFirstOrThrow({ where: { deploymentId: id } }),
      models.deployment.findUniqueOrThrow({ where: { id } }),
    ]);
    expect(before).toMatchObject({ number: 1, poolId, engineClass: 'cpu', priceMicrosPerSecond: 10n, weight: 0 });
    expect([before.endedAt, wantedAt]).toEqual([expect.any(Date), expect.any(Date)]);
    expect((await models.pool.findUniqueOrThrow({ where: { id: poolId } })).attemptLimitSeconds).toBeNull();
    await world.addReadyWorker(`${id}-v2`);
    expect(await world.state(id)).toBe('ready');
  });

  it('has been started when it began, and not when the one before was', async () => {
    const { id } = await world.create();
    await world.pass(3_600);
    const { startedAt } = await world.service.getOfAny(id);
    expect((await change(id, { engineClass: 'dear' })).startedAt.getTime() - startedAt.getTime()).toBeGreaterThan(
      3_500_000,
    );
  });

  it('takes no jobs on workers of the one before, at either price', async () => {
    const { id, poolId } = await world.create();
    await world.addReadyWorker(poolId);
    await change(id, { engineClass: 'dear' });
    await expect(world.targets.deployment(id)).rejects.toMatchObject({ code: 'deployment_not_ready' });
    await world.addReadyWorker(`${id}-v2`);
    expect(await world.targets.deployment(id)).toMatchObject({ poolId: `${id}-v2`, priceMicrosPerSecond: 90n });
  });

  it('counts for the limit of the account with what the changes before it left running', async () => {
    const { id, poolId, accountId } = await world.create({ maxWorkers: 2 });
    for (let worker = 0; worker < 2; worker += 1) await world.addReadyWorker(poolId);
    await world.servedByFleet(poolId);
    const withinTwo = (engineClass: string): Promise<Deployment> =>
      world.test.database.transaction((tx) =>
        world.life.change(tx, id, { engineClass }, { deployments: 1, workers: 2 }),
      );
    expect(await withinTwo('dear')).toMatchObject({ accountId, version: 2 });
    await expect(withinTwo('dearer')).rejects.toMatchObject({
      code: 'deployment_limit',
      message: expect.stringContaining('2 that are too many by now') as string,
    });
  });

  it('is open to an account that has more workers than its limit by an operator, while none has to stop first', async () => {
    const { id, accountId } = await world.create({ maxWorkers: 8 });
    const withinFour = (changes: object): Promise<Deployment> =>
      world.test.database.transaction((tx) => world.life.change(tx, id, changes, { deployments: 1, workers: 4 }));
    await expect(withinFour({ engineClass: 'dear', maxWorkers: 9 })).rejects.toMatchObject({
      code: 'deployment_limit',
    });
    expect(await withinFour({ engineClass: 'dear' })).toMatchObject({ accountId, version: 2, maxWorkers: 8 });
    await world.addReadyWorker(id);
    await world.servedByFleet(id);
    await expect(withinFour({ engineClass: 'dearer' })).rejects.toMatchObject({
      message: expect.stringContaining('1 that are too many by now') as string,
    });
  });

  it('is refused where two versions are live, which it names', async () => {
    const { id } = await world.create();
    await new DeploymentVersionStore().add(world.test.database, id, 2, VERSION, 30);
    await expect(change(id, { engineClass: 'dear' })).rejects.toMatchObject({
      code: 'deployment_busy',
      message: expect.stringContaining('end version 2 first') as string,
    });
    expect(await change(id, { engineClass: 'cpu', maxWorkers: 2 })).toMatchObject({ version: 1, maxWorkers: 2 });
  });

  it('begins no worker of a stopped deployment', async () => {
    const { database } = world.test;
    const { id } = await world.create();
    await world.service.stop(database, id);
    expect(await change(id, { engineClass: 'dear' })).toMatchObject({ version: 2, state: 'stopped' });
    const { wantedAt } = await database.models.deployment.findUniqueOrThrow({ where: { id } });
    expect(wantedAt).toBeNull();
  });

  it('has one number, however many ask for it at once', async () => {
    const { id } = await world.create();
    const asked = ['dear', 'dearer', 'dear'].map((engineClass) => change(id, { engineClass }));
    await Promise.all(asked);
    const ended = await world.test.database.models.deploymentVersion.count({ where: { deploymentId: id } });
    expect((await world.service.getOfAny(id)).version).toBe(ended + 1);
  });

  it('changes in place where an operator changes it, at the price that there is', async () => {
    const { id, poolId } = await world.create({ priceMicrosPerSecond: 10n });
    const { database } = world.test;
    const changed = await database.transaction((tx) => world.life.change(tx, id, { engineClass: 'dear' }, null));
    expect(changed).toMatchObject({ version: 1, poolId, engineClass: 'dear', priceMicrosPerSecond: 10n });
  });
});

describe('the price that an operator set', () => {
  it('stays where the account names the class that its deployment has', async () => {
    const { id } = await priced();
    expect(await change(id, { engineClass: 'cpu', maxWorkers: 2 })).toMatchObject({
      ...{ engineClass: 'cpu', maxWorkers: 2, priceMicrosPerSecond: 3n },
    });
  });

  it('is that of a version beside it which names the same class', async () => {
    const { database } = world.test;
    const present = await priced();
    const draft = (engineClass: string): Promise<object> =>
      world.life.versionDraft(database, present, { engineClass }, ALLOWANCE);
    expect(await draft('cpu')).toMatchObject({ engineClass: 'cpu', priceMicrosPerSecond: 3n });
    expect(await draft('dear')).toMatchObject({ engineClass: 'dear', priceMicrosPerSecond: 90n });
  });

  it('goes with its class', async () => {
    const { id } = await priced();
    expect((await change(id, { engineClass: 'dear' })).priceMicrosPerSecond).toBe(90n);
  });
});

describe('the graph of a warm-up', () => {
  const graph = '{"1":{"class_type":"NoSuchNode","inputs":{}}}';

  it('is checked against what the workers run before the transaction of its change', async () => {
    const { id, poolId } = await world.create();
    await new CatalogueStore().publish(world.test.database, poolId, 'cpu', {});
    const checking = world.life.checkedWarmUp(id, { warmUp: graph });
    await expect(checking).rejects.toMatchObject({
      details: { node_errors: { 1: [{ reason: 'unknown_node_class' }] } },
    });
  });

  it.each([[undefined], [null]])('is not looked for where it is %p', async (warmUp) => {
    expect(await world.life.checkedWarmUp(newId(), { warmUp })).toEqual({ warmUp });
  });

  it('is kept as it is for a class of which nobody knows yet what its workers can run', async () => {
    const { id } = await world.create();
    expect(await world.life.checkedWarmUp(id, { warmUp: graph, engineClass: 'dear' })).toMatchObject({ warmUp: graph });
  });
});
