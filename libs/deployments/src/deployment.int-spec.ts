import fc from 'fast-check';
import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { makeAccount } from '@millrace/testing';
import { CatalogueStore } from './catalogue.store';
import { DeploymentWorld } from './fixtures/deployment-world';
import type { WorkerState } from './worker.store';

let world: DeploymentWorld;
beforeAll(async () => {
  world = await DeploymentWorld.open();
});
afterAll(() => world.test.drop());

/** Longer than a worker may be silent. */
const LONG = 20;

const wantedAt = async (id: string): Promise<Date | null> =>
  (await world.test.database.models.deployment.findUniqueOrThrow({ where: { id } })).wantedAt;

describe('a deployment', () => {
  it('goes from provisioning to starting to ready, and starting again when its worker is lost', async () => {
    const { id, poolId, state } = await world.create();
    expect(state).toBe('provisioning');
    const worker = await world.addWorker(poolId);
    expect(await world.state(id)).toBe('starting');
    await world.addReadyWorker(poolId);
    expect(await world.state(id)).toBe('ready');
    await world.report(worker, 'stopped');
    expect(await world.state(id)).toBe('ready');
    await world.pass(LONG);
    expect(await world.state(id)).toBe('starting');
    await world.pass(60);
    await world.workers.retireSilent(world.test.database, 60, 100);
    expect(await world.state(id)).toBe('starting');
  });

  it('says what its workers say of its models, unless the fleet has something to say', async () => {
    const { id, poolId } = await world.create();
    const worker = await world.addReadyWorker(poolId);
    const note = (modelsNote: string | null, state: WorkerState = 'ready'): Promise<unknown> =>
      world.workers.heartbeat(world.test.database, worker, { state, residentModels: [], problem: null, modelsNote });
    const reason = async (): Promise<unknown> => (await world.service.findNow(id))?.stateReason;
    expect(await reason()).toBeNull();
    await note('its models: one is missing');
    expect(await reason()).toBe('its models: one is missing');
    const group = { poolId, wanted: 2, running: 1, phase: 'starting', reason: 'starting 1 of 2 workers' };
    await world.test.database.models.fleetGroup.create({ data: group });
    expect(await reason()).toBe('starting 1 of 2 workers');
    await world.test.database.models.fleetGroup.delete({ where: { poolId } });
    await note('its models: one is missing', 'draining');
    expect(await reason()).toBeNull();
    await world.pass(LONG);
    expect(await reason()).toBeNull();
  });

  it('is not ready before a worker has published what it can run', async () => {
    const { id, poolId } = await world.create();
    await world.report(await world.addWorker(poolId), 'ready');
    expect(await world.state(id)).toBe('starting');
  });

  it('is starting while the engine of its only worker is not well', async () => {
    const { id, poolId } = await world.create();
    const worker = await world.addReadyWorker(poolId);
    await world.report(worker, 'starting');
    expect(await world.state(id)).toBe('starting');
    await world.report(worker, 'ready');
    expect(await world.state(id)).toBe('ready');
  });

  it('is ready again when a worker that was marked lost reports, not when one that has left does', async () => {
    const { id, poolId } = await world.create({ minWorkers: 1 });
    const worker = await world.addReadyWorker(poolId);
    await world.pass(100);
    await world.workers.retireSilent(world.test.database, 60, 100);
    expect(await world.state(id)).toBe('starting');
    await world.report(worker, 'ready');
    expect(await world.state(id)).toBe('ready');
    await world.report(worker, 'stopped');
    await world.report(worker, 'ready');
    expect(await world.state(id)).toBe('starting');
  });

  it('stays ready when it is scaled to nothing, also a week later and with its old workers deleted', async () => {
    const { id, poolId } = await world.create();
    for (const worker of [await world.addReadyWorker(poolId), await world.addReadyWorker(poolId)]) {
      await world.pass(1);
      await world.report(worker, 'stopped');
    }
    await world.pass(7 * 86_400);
    expect(await world.workers.deleteStopped(world.test.database, 86_400, 100)).toBeGreaterThan(0);
    expect(await world.service.findNow(id)).toMatchObject({ state: 'ready', idle: true, readyWorkers: 0 });
    expect(await world.test.database.models.worker.count({ where: { poolId } })).toBe(1);
  });

  it('is stopped until it is started, and then needs a worker that is ready', async () => {
    const { id, poolId } = await world.create();
    const worker = await world.addReadyWorker(poolId);
    const { database } = world.test;
    expect((await world.service.stop(database, id)).deployment.state).toBe('stopped');
    expect((await world.service.stop(database, id)).changed).toBe(false);
    await world.pass(1);
    await world.report(worker, 'stopped');
    await world.pass(1);
    expect((await world.service.start(database, id)).deployment.state).toBe('starting');
    await world.addReadyWorker(poolId);
    expect(await world.state(id)).toBe('ready');
  });

  it('is of one account, and cannot be made for none', async () => {
    const { id, accountId } = await world.create();
    const stranger = await makeAccount(world.test.database);
    expect((await world.service.list(accountId)).map((found) => found.id)).toEqual([id]);
    expect(await world.service.list(stranger)).toEqual([]);
    await expect(world.service.get(stranger, id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.service.get(stranger, 'x')).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.create({ accountId: newId() })).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.service.start(world.test.database, newId())).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('where a submission to a deployment goes', () => {
  it('is nowhere while it is not ready; who asked is noted until a worker is ready', async () => {
    const { id, poolId } = await world.create();
    await expect(world.targets.deployment(id)).rejects.toMatchObject({ code: 'deployment_not_ready', status: 429 });
    const first = await wantedAt(id);
    expect(first).not.toBeNull();
    await world.targets.deployment(id).catch(() => undefined);
    expect(await wantedAt(id)).toEqual(first);
    await world.addReadyWorker(poolId);
    expect(await wantedAt(id)).toBeNull();
    expect(await world.targets.deployment(id)).toMatchObject({ poolId, priceMicrosPerSecond: 7n, queueLimit: null });
  });

  it('is its own pool on its own terms', async () => {
    const { id, poolId } = await world.create({ priceMicrosPerSecond: 3n, queueLimit: 5 });
    await world.addReadyWorker(poolId);
    expect(await world.targets.deployment(id)).toMatchObject({ poolId, priceMicrosPerSecond: 3n, queueLimit: 5 });
  });

  it('is its pool without workers when it is idle, and workers are wanted', async () => {
    const { id, poolId } = await world.create();
    const worker = await world.addReadyWorker(poolId);
    await world.report(worker, 'stopped');
    expect(await world.targets.deployment(id)).toMatchObject({ poolId });
    expect(await wantedAt(id)).not.toBeNull();
  });

  it('is nowhere while it is stopped, and no worker is wanted then', async () => {
    const { id } = await world.create();
    await world.service.stop(world.test.database, id);
    world.service.forget(id);
    await expect(world.targets.deployment(id)).rejects.toMatchObject({ code: 'deployment_stopped', status: 422 });
    expect(await wantedAt(id)).toBeNull();
  });

  it('is not found where there is no deployment', async () => {
    await expect(world.targets.deployment(newId())).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is answered with what is left of a start as its workers usually take', async () => {
    const { id, poolId } = await world.create();
    const { database } = world.test;
    const earlier = await world.addReadyWorker(poolId);
    await database.execute(Prisma.sql`
      UPDATE workers SET started_at = ready_at - interval '24 s' WHERE id = ${earlier}::uuid`);
    await world.pass(100);
    const wait = async (): Promise<unknown> => {
      const refusal: unknown = await world.targets.deployment(id).catch((error: unknown) => error);
      return (refusal as { retryAfterSeconds?: number }).retryAfterSeconds;
    };
    expect(await wait()).toBe(24);
    await world.addWorker(poolId);
    await world.pass(10);
    expect(await wait()).toBe(14);
  });
});

/** What a model of a deployment knows of a worker. */
interface ModelWorker {
  id: string;
  phase: 'starting' | 'ready' | 'draining' | 'gone';
  wasReady: boolean;
}

class Model {
  desired: 'running' | 'stopped' = 'running';
  workers: ModelWorker[] = [];
  /** How the last of those went that were ready since the last start. */
  lastWent: 'in order' | 'lost' | null = null;

  constructor(readonly minWorkers: number) {}

  get state(): string {
    if (this.desired === 'stopped') return 'stopped';
    const present = this.workers.filter((worker) => worker.phase !== 'gone' && worker.wasReady);
    if (present.some((worker) => worker.phase === 'ready')) return 'ready';
    const inOrder =
      present.length > 0 ? present.every((worker) => worker.phase === 'draining') : this.lastWent === 'in order';
    if (this.minWorkers === 0 && inOrder) return 'ready';
    return this.workers.length > 0 ? 'starting' : 'provisioning';
  }
}

const EVENTS = ['come', 'be ready', 'drain', 'leave', 'be lost', 'stop', 'start', 'want'] as const;
type Event = (typeof EVENTS)[number];

const pick = (model: Model, ...phases: ModelWorker['phase'][]): ModelWorker | undefined =>
  model.workers.find((worker) => phases.includes(worker.phase));

/** Let an event happen in the model and in the world. */
async function happen(event: Event, model: Model, { id, poolId }: { id: string; poolId: string }): Promise<void> {
  const { database } = world.test;
  const worker = pick(model, ...(event === 'be ready' ? (['starting'] as const) : (['ready', 'draining'] as const)));
  if (event === 'come') {
    model.workers.push({ id: await world.addWorker(poolId), phase: 'starting', wasReady: false });
  } else if (event === 'be ready' && worker !== undefined) {
    Object.assign(worker, { phase: 'ready', wasReady: true });
  } else if (event === 'drain' && worker !== undefined) {
    worker.phase = 'draining';
  } else if (event === 'leave' && worker !== undefined) {
    await world.report(worker.id, 'stopped');
    worker.phase = 'gone';
    model.lastWent = 'in order';
  } else if (event === 'be lost' && worker !== undefined) {
    worker.phase = 'gone';
    model.lastWent = 'lost';
    await world.pass(LONG);
  } else if (event === 'stop') {
    await world.service.stop(database, id);
    model.desired = 'stopped';
  } else if (event === 'start') {
    const { changed } = await world.service.start(database, id);
    if (changed) model.lastWent = null;
    model.desired = 'running';
  } else if (event === 'want') {
    await world.service.noteWanted({ id, poolId: id });
  }
  await world.pass(1);
  for (const { id: present, phase } of model.workers) if (phase !== 'gone') await world.report(present, phase);
}

describe('any history of a deployment', () => {
  it('leaves it in the state that the model says', async () => {
    await new CatalogueStore().publish(world.test.database, 'none', 'cpu', {});
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1),
        fc.array(fc.constantFrom(...EVENTS), { minLength: 1, maxLength: 14 }),
        async (minWorkers, events) => {
          const model = new Model(minWorkers);
          const deployment = await world.create({ minWorkers });
          await world.test.database.execute(Prisma.sql`
            UPDATE pools SET catalogue_digest = (SELECT digest FROM catalogues LIMIT 1) WHERE id = ${deployment.poolId}`);
          for (const event of events) {
            await happen(event, model, deployment);
            const found = await world.service.findNow(deployment.id);
            expect([event, found?.state]).toEqual([event, model.state]);
          }
          await world.test.database.execute(Prisma.sql`DELETE FROM workers WHERE pool_id = ${deployment.poolId}`);
        },
      ),
      { numRuns: 60 },
    );
  });
});
