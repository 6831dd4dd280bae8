import { eventually } from '@millrace/testing';
import { FleetWorld, type Act } from '../fixtures/fleet-world';
import { killedAfter, wasKilled } from '../fixtures/killed';
import { openStandIn, type StandInCluster } from '../fixtures/stand-in-cluster';
import type { Reconciler } from '../reconcile';
import { ApiError, KubernetesApi } from './api';
import type { KubernetesFleet } from './kubernetes.fleet';

const TIMEOUT_MS = 300_000;
const STEPS = 7;

let world: FleetWorld;
let cluster: StandInCluster;
let observer: KubernetesFleet;
let started: jest.SpyInstance;
/** Around every write to the API server. */
let act: Act;

beforeAll(async () => {
  world = await FleetWorld.open();
});
afterAll(() => world.test.drop());
beforeEach(openCluster);
afterEach(closeCluster);

async function openCluster(): Promise<void> {
  cluster = await openStandIn({ commandLine: ['sleep', '3600'] });
  observer = cluster.fleet();
  started = jest.spyOn(cluster.standIn.pods, 'create');
  act = (what) => what();
  const send = Reflect.get(KubernetesApi.prototype, 'call');
  jest.spyOn(KubernetesApi.prototype, 'call').mockImplementation(function <T>(
    this: KubernetesApi,
    ...[method, path, request]: Parameters<KubernetesApi['call']>
  ): Promise<T> {
    const make = (): Promise<T> => send.call(this, method, path, request) as Promise<T>;
    return method === 'GET' ? make() : act(make);
  });
  await world.offer('a');
}

async function closeCluster(): Promise<void> {
  jest.restoreAllMocks();
  await cluster.close();
  const { models } = world.test.database;
  world.demands.clear();
  await models.worker.deleteMany();
  await models.fleetGroup.deleteMany();
  await models.deployment.deleteMany();
  await models.fleetLease.deleteMany();
}

/** A controller on the stand-in of the API server. Its writes there and those to PostgreSQL are counted as one sequence. */
function controller(how: Act = (what) => what()): Reconciler {
  act = how;
  return world.controller(how, undefined, cluster.fleet());
}

/** What the workers do by now: those that were asked to go are gone, the others have reported themselves. */
async function settle(): Promise<void> {
  const { all } = cluster.standIn.pods;
  await eventually('pods to be gone', () =>
    [...all.values()].every(({ metadata }) => metadata.deletionTimestamp === undefined),
  );
  const members = (await observer.observe()).flatMap((group) =>
    group.members.map((member) => ({ ...member, poolId: group.poolId, phase: 'running' as const })),
  );
  world.members.splice(0, world.members.length, ...members);
  await world.settle();
}

async function run(one: Reconciler, steps = STEPS): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    await one.step();
    await settle();
  }
}

const busy = (workers: string[]): { pendingJobs: number; runningJobs: number; busyWorkers: Set<string> } => ({
  pendingJobs: workers.length,
  runningJobs: workers.length,
  busyWorkers: new Set(workers),
});

interface Scene {
  expected: object;
  outcome: () => object;
}

/** Pools of which one grows, one shrinks beside a busy worker, and one is deleted. */
async function growShrinkDelete(): Promise<Scene> {
  const [growing, shrinking, deleted] = [await world.deploy(0), await world.deploy(3), await world.deploy(2)];
  const before = controller();
  await run(before, 2);
  await before.close();
  const [kept = ''] = await world.workersOf(shrinking);
  const { models } = world.test.database;
  const { host } = await models.worker.findUniqueOrThrow({ where: { id: kept } });
  world.demands.set(growing, busy(['x', 'y']));
  world.demands.set(shrinking, busy([kept]));
  await models.deployment.updateMany({ where: { poolId: shrinking }, data: { minWorkers: 0 } });
  await models.deployment.updateMany({ where: { poolId: deleted }, data: { deletedAt: new Date() } });
  const startedBefore = started.mock.calls.length;
  return {
    // The Deployments of the two pools, and the fleet's own.
    expected: { growing: 2, shrinking: [host], deleted: 0, started: 2, deployments: 3 },
    outcome: () => ({
      growing: world.membersOf(growing).length,
      shrinking: world.membersOf(shrinking).map((member) => member.host),
      deleted: world.membersOf(deleted).length,
      started: started.mock.calls.length - startedBefore,
      deployments: cluster.standIn.deployments.size,
    }),
  };
}

/** A pool whose class has another revision: workers of that come, and those of the old one go. */
async function replace(): Promise<Scene> {
  const poolId = await world.deploy(2);
  const before = controller();
  await run(before, 2);
  await before.close();
  const { revision } = await world.offer('b');
  const startedBefore = started.mock.calls.length;
  return {
    expected: { revisions: [revision, revision], started: 2, deployments: 2 },
    outcome: () => ({
      revisions: world.membersOf(poolId).map((member) => member.revision),
      started: started.mock.calls.length - startedBefore,
      deployments: cluster.standIn.deployments.size,
    }),
  };
}

/** The write after `writes` takes effect, and its answer is lost. */
function answerLostAfter(writes: number): { act: Act; isLost: () => boolean } {
  let done = 0;
  const lost: Act = async (what) => {
    const answer = await what();
    done += 1;
    if (done === writes + 1) throw new ApiError(0, 'Kubernetes does not answer: timeout');
    return answer;
  };
  return { act: lost, isLost: () => done > writes };
}

const SCENES: [string, () => Promise<Scene>][] = [
  ['pools grow, shrink and are deleted', growShrinkDelete],
  ['workers are replaced by those of another revision', replace],
];

describe.each(SCENES)('while %s in Kubernetes', (_what, setScene) => {
  it(
    'a controller that is killed after any of its writes leaves what the next one finishes',
    async () => {
      let [killed, writes] = [true, 0];
      while (killed) {
        writes += 1;
        const scene = await setScene();
        killed = await wasKilled(run(controller(killedAfter(writes))));
        await world.endLease();
        await settle();
        await run(controller());
        expect({ writes, ...scene.outcome() }).toEqual({ writes, ...scene.expected });
        await closeCluster();
        await openCluster();
      }
      expect(writes).toBeGreaterThan(5);
    },
    TIMEOUT_MS,
  );

  it(
    'a write whose answer is lost is not made a second time in vain: nothing is started twice',
    async () => {
      let [isLost, writes] = [true, -1];
      while (isLost) {
        writes += 1;
        const scene = await setScene();
        const lossy = answerLostAfter(writes);
        const one = controller((what) => what());
        act = lossy.act;
        // Orders for that pool pause for a second.
        await eventually('all to be as wanted', async () => {
          await run(one, 1);
          return JSON.stringify(scene.outcome()) === JSON.stringify(scene.expected);
        });
        await run(one, 1);
        expect({ writes, ...scene.outcome() }).toEqual({ writes, ...scene.expected });
        isLost = lossy.isLost();
        await closeCluster();
        await openCluster();
      }
      expect(writes).toBeGreaterThan(2);
    },
    TIMEOUT_MS,
  );
});

describe('while the API server takes requests and answers none', () => {
  it('a controller gives up in time, and who leads when it answers again starts what is missing, once', async () => {
    const poolId = await world.deploy(2);
    const [first, second] = [controller(), controller()];
    cluster.standIn.fail(/./, null, Number.POSITIVE_INFINITY);
    await expect(first.step()).rejects.toThrow('does not answer: timeout');
    await world.endLease();
    await expect(second.step()).rejects.toThrow('does not answer: timeout');
    cluster.standIn.heal();
    // The second one leads, though it could do nothing with it.
    expect(await first.step()).toBe(false);
    await run(second, 2);
    expect(await first.step()).toBe(false);
    await settle();
    expect(world.membersOf(poolId)).toHaveLength(2);
    expect(started).toHaveBeenCalledTimes(2);
  });

  it('an order that hangs holds back no other pool, and is placed once when it is answered again', async () => {
    const [hanging, other] = [await world.deploy(1), await world.deploy(1)].sort();
    const one = controller();
    cluster.standIn.fail(/^PATCH .*deployments/, null, 1);
    await run(one, 1);
    const sizes = (): number[] => [hanging, other].map((poolId) => world.membersOf(poolId ?? '').length);
    expect(sizes()).toEqual([0, 1]);
    const { models } = world.test.database;
    const { phase, reason } = await models.fleetGroup.findUniqueOrThrow({ where: { poolId: hanging } });
    expect([phase, reason]).toEqual(['failed', 'the fleet does not answer: Kubernetes does not answer: timeout']);
    await eventually('both to run', async () => {
      await run(one, 1);
      return sizes().every((size) => size === 1);
    });
    expect(started).toHaveBeenCalledTimes(2);
  });
});
