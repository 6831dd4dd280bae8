import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { WorkerStore } from '@millrace/deployments';
import { NEW_GROUP, type Demand } from './plan';
import { FleetGroupStore } from './fleet-group.store';
import { FleetWorld } from './fixtures/fleet-world';
import { killedAfter, wasKilled } from './fixtures/killed';
import type { Reconciler } from './reconcile';
import { ServedPoolStore } from './served-pool.store';

let world: FleetWorld;
beforeEach(async () => {
  world = await FleetWorld.open();
  await world.offer();
});
afterEach(() => world.test.drop());

const busy = (workers: string[]): { pendingJobs: number; runningJobs: number; busyWorkers: Set<string> } => ({
  pendingJobs: workers.length,
  runningJobs: workers.length,
  busyWorkers: new Set(workers),
});
const groups = (): Promise<unknown[]> => world.test.database.models.fleetGroup.findMany({ orderBy: { poolId: 'asc' } });
const draining = async (): Promise<number> => world.test.database.models.worker.count({ where: { state: 'draining' } });

describe('of two controllers', () => {
  it('one leads, and the other one does when the first has let go', async () => {
    await world.deploy(1);
    const [first, second] = [world.controller(), world.controller()];
    expect([await first.step(), await second.step(), await first.step()]).toEqual([true, false, true]);
    await first.close();
    expect([await second.step(), await first.step()]).toEqual([true, false]);
    expect(world.started).toHaveLength(1);
  });

  it('the one whose time ran out in the middle of a step places no more orders, drains nobody and records nothing', async () => {
    const growing = await world.deploy(0);
    const shrinking = await world.deploy(1);
    await world.controller().step();
    await world.settle();
    await world.endLease();
    await world.test.database.models.deployment.updateMany({
      where: { poolId: shrinking },
      data: { minWorkers: 0 },
    });
    const held = holdDemand(new Map([[growing, busy(['a', 'b'])]]));
    const step = world.controller(undefined, held.demand).step();
    await held.reached;
    await world.endLease();
    expect(await world.controller().step()).toBe(true);
    const before = { groups: await groups(), members: [...world.members], draining: await draining() };
    // Its own clock has passed the end of its lease, as PostgreSQL's has.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
    held.release();
    await step;
    clock.mockRestore();
    expect({ groups: await groups(), members: [...world.members], draining: await draining() }).toEqual(before);
  });

  it('the one that lost the lead unawares drains nobody and records nothing', async () => {
    const shrinking = await world.deploy(1);
    await world.controller().step();
    await world.settle();
    await world.endLease();
    await world.test.database.models.deployment.updateMany({ data: { minWorkers: 0 } });
    const held = holdDemand(new Map());
    const step = world.controller(undefined, held.demand).step();
    await held.reached;
    await world.endLease();
    world.demands.set(shrinking, busy(await world.workersOf(shrinking)));
    expect(await world.controller().step()).toBe(true);
    const before = await groups();
    held.release();
    await step;
    expect([await groups(), await draining(), world.stopped]).toEqual([before, 0, []]);
  });

  it('the old fence writes nothing, even while nobody else leads', async () => {
    const poolId = await world.deploy(1);
    const store = new FleetGroupStore();
    await world.controller().step();
    const before = await groups();
    const { fence } = await world.test.database.models.fleetLease.findFirstOrThrow();
    const failed = { ...NEW_GROUP, phase: 'failed' as const, reason: 'from the past' };
    expect(await store.record(world.test.database, poolId, failed, 'deployments', fence - 1n)).toBe(false);
    expect(await groups()).toEqual(before);
    expect(await store.record(world.test.database, poolId, failed, 'deployments', fence)).toBe(true);
  });

  it('the old fence notes no start of a worker, and a start that is noted stays as it is', async () => {
    const poolId = await world.deploy(1);
    await world.controller().step();
    await world.settle();
    const [worker = ''] = await world.workersOf(poolId);
    const { database } = world.test;
    const { fence } = await database.models.fleetLease.findFirstOrThrow();
    const note = (scheduleMs: number, by: bigint): Promise<void> =>
      new ServedPoolStore().notePlaced(database, worker, { scheduleMs, pullMs: null }, 'deployments', by);
    const noted = async (): Promise<number | null> =>
      (await database.models.worker.findUniqueOrThrow({ where: { id: worker } })).scheduleMs;
    await note(1, fence - 1n);
    expect(await noted()).toBeNull();
    await note(2, fence);
    await note(3, fence);
    expect(await noted()).toBe(2);
  });
});

it('a pool at zero starts as many workers as its jobs need by what its latest one ran at once', async () => {
  const poolId = await world.deploy(0);
  const worker = { poolId, engine: 'cpu', version: 'test', host: 'h', pid: 1, state: 'stopped', stoppedAt: new Date() };
  const ready = (capacity: number, readyAt: Date | null): object => ({ ...worker, id: newId(), capacity, readyAt });
  const data = [ready(1, new Date(0)), ready(4, new Date()), ready(2, null)] as never;
  await world.test.database.models.worker.createMany({ data });
  world.demands.set(poolId, { ...busy([]), pendingJobs: 4 });
  await world.controller().step();
  expect(world.started).toEqual([poolId]);
});

it('a suspended account keeps no workers without work, those of its jobs run on, and it has all again afterwards', async () => {
  const [poolId, otherPoolId] = [await world.deploy(2), newId()];
  const { models } = world.test.database;
  await models.pool.create({ data: { id: otherPoolId, engine: 'cpu' } });
  const version = { ...{ deploymentId: poolId, number: 2, poolId: otherPoolId, engineClass: 'cpu' }, idleSeconds: 600 };
  await models.deploymentVersion.create({ data: { ...version, minWorkers: 1, maxWorkers: 5, weight: 0 } });
  const [controller, counts] = [
    world.controller(),
    () => [poolId, otherPoolId].map((id) => world.membersOf(id).length),
  ];
  const steps = async (): Promise<void> => {
    for (let step = 0; step < 3; step += 1) {
      await controller.step();
      await world.settle();
    }
  };
  await steps();
  expect(counts()).toEqual([2, 1]);
  const [working = ''] = await world.workersOf(poolId);
  world.demands.set(poolId, busy([working]));
  await models.account.updateMany({ data: { status: 'suspended' } });
  await steps();
  expect(await world.workersOf(poolId)).toEqual([working]);
  expect(counts()).toEqual([1, 0]);
  world.demands.clear();
  await steps();
  expect(counts()).toEqual([0, 0]);
  expect(await groups()).toMatchObject([
    { phase: 'idle', stuck: false },
    { phase: 'idle', stuck: false },
  ]);
  await models.account.updateMany({ data: { status: 'active' } });
  await steps();
  expect(counts()).toEqual([2, 1]);
});

describe('workers that can run nothing', () => {
  const report = { state: 'ready' as const, residentModels: [], problem: null };
  const store = new WorkerStore();

  /** Two workers that were ready, and began longer ago than their class takes to start. */
  async function twoReady(): Promise<{ poolId: string; ids: string[]; controller: Reconciler }> {
    const poolId = await world.deploy(2);
    const controller = world.controller();
    await controller.step();
    await world.settle();
    await controller.step();
    for (const member of world.membersOf(poolId)) member.startedAt = new Date(Date.now() - 600_000);
    return { poolId, ids: await world.workersOf(poolId), controller };
  }
  const silence = (seconds: number): Promise<number> =>
    world.test.database.execute(
      Prisma.sql`UPDATE workers SET last_seen_at = now() - make_interval(secs => ${seconds}::int)`,
    );

  it('go on when they were cut off from PostgreSQL for less than a start takes, and are replaced after that', async () => {
    const { poolId, ids, controller } = await twoReady();
    const { database } = world.test;
    await silence(75);
    expect(await store.retireSilent(database, 60, 100)).toBe(2);
    await controller.step();
    expect([world.stopped, world.started]).toEqual([[], [poolId, poolId]]);
    for (const id of ids) await store.heartbeat(database, id, report);
    await controller.step();
    expect(await groups()).toMatchObject([{ poolId, phase: 'running', running: 2, failures: 0 }]);
    expect([world.stopped, world.starts.length]).toEqual([[], 2]);
    await silence(121);
    await store.retireSilent(database, 60, 100);
    await controller.step();
    expect(world.stopped).toEqual([]);
    // Nobody could report while PostgreSQL was away: the silence counts from its first answer.
    // Whole milliseconds: sums of fractions would pass the limit by a rounding.
    let now = Math.ceil(performance.now()) + 121_000;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
    await controller.step();
    for (let steps = 0; steps < 6; steps += 1) {
      now += 20_000;
      await controller.step();
    }
    expect(world.stopped).toEqual([]);
    now += 1_000;
    await controller.step();
    clock.mockRestore();
    expect([world.stopped.length, world.membersOf(poolId)]).toEqual([2, []]);
  });

  it('are replaced when they have been sick for longer than a start takes', async () => {
    const { ids, controller } = await twoReady();
    const { database } = world.test;
    for (const id of ids) await store.heartbeat(database, id, { ...report, state: 'starting', problem: 'a test' });
    await controller.step();
    expect(world.stopped).toEqual([]);
    await database.execute(
      Prisma.sql`UPDATE workers SET sick_since = now() - interval '121 s' WHERE id = ${ids[0]}::uuid`,
    );
    await controller.step();
    expect(world.stopped).toHaveLength(1);
  });
});

describe('that the workers of a deployment do not come is a message to its account:', () => {
  it('once, with the reason, until they came or were not wanted, and not of a deployment that is stopped', async () => {
    const poolId = await world.deploy(1);
    const { models } = world.test.database;
    const { accountId } = await models.deployment.findFirstOrThrow({ where: { poolId } });
    const endpoint = {
      url: 'https://receiver.example.com/',
      origin: 'https://a.example',
      eventTypes: ['deployment.failed'],
    };
    await models.webhookEndpoint.create({ data: { id: newId(), accountId, ...endpoint } });
    const sent = async (): Promise<unknown[]> => (await models.webhookMessage.findMany()).map(({ data }) => data);
    const controller = world.controller();
    const steps = async (): Promise<void> => {
      for (let step = 0; step < 3; step += 1) await controller.step();
    };
    await models.engineClass.updateMany({ data: { retiredAt: new Date() } });
    await steps();
    const message = { id: poolId, name: 'a test', version: 1, reason: 'its class cpu is gone' };
    expect(await sent()).toEqual([message]);
    await models.deployment.updateMany({ data: { minWorkers: 0 } });
    await steps();
    await models.deployment.updateMany({ data: { minWorkers: 1 } });
    await steps();
    expect(await sent()).toEqual([message, message]);
    await models.deployment.updateMany({ data: { minWorkers: 0 } });
    await steps();
    await models.deployment.updateMany({ data: { minWorkers: 1, desiredState: 'stopped' } });
    await steps();
    expect(await sent()).toEqual([message, message]);
  });
});

describe('a controller that is killed after any of its writes', () => {
  it('leaves what the next one finishes: nothing is started twice, nothing stays that is not wanted, no busy one stops', async () => {
    let killed = true;
    for (let writes = 1; killed; writes += 1) {
      const scene = await setScene();
      killed = await wasKilled(run(world.controller(killedAfter(writes)), 4));
      await world.endLease();
      const second = world.controller();
      await run(second, 6);
      expect({ writes, ...(await scene.outcome()) }).toEqual({ writes, ...scene.expected });
      await clear();
    }
    expect(world.started.length).toBeGreaterThan(10);
  });

  async function run(controller: ReturnType<FleetWorld['controller']>, steps: number): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      await controller.step();
      await world.settle();
    }
  }

  /** Pools of which one grows, one shrinks beside a busy worker, one changes its class, and one is deleted. */
  async function setScene() {
    await world.offer('a');
    const [growing, shrinking, deleted] = [await world.deploy(0), await world.deploy(3), await world.deploy(2)];
    const before = world.controller();
    await run(before, 1);
    await before.close();
    const [kept] = await world.workersOf(shrinking);
    const { host } = await world.test.database.models.worker.findUniqueOrThrow({ where: { id: kept } });
    world.demands.set(growing, busy(['x', 'y']));
    world.demands.set(shrinking, busy([kept ?? '']));
    const { models } = world.test.database;
    await models.deployment.updateMany({ where: { poolId: shrinking }, data: { minWorkers: 0 } });
    await models.deployment.updateMany({ where: { poolId: deleted }, data: { deletedAt: new Date() } });
    const startedBefore = world.started.length;
    return {
      expected: { growing: 2, shrinking: [host], deleted: 0, started: 2 },
      outcome: async () => ({
        growing: world.membersOf(growing).length,
        shrinking: world.membersOf(shrinking).map((member) => member.host),
        deleted: world.membersOf(deleted).length,
        started: world.started.length - startedBefore,
      }),
    };
  }

  async function clear(): Promise<void> {
    const { models } = world.test.database;
    world.demands.clear();
    world.members.length = 0;
    await models.worker.deleteMany();
    await models.fleetGroup.deleteMany();
    await models.deployment.deleteMany();
    await models.fleetLease.deleteMany();
  }
});

/** A demand that a step waits for until it is released. */
function holdDemand(value: Map<string, Demand>): {
  demand: () => Promise<Map<string, Demand>>;
  reached: Promise<void>;
  release: () => void;
} {
  let release: () => void = () => undefined;
  let arrive: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const demand = async (): Promise<Map<string, Demand>> => {
    arrive();
    await released;
    return value;
  };
  return { demand, reached, release };
}
