import { newId } from '@millrace/contracts';
import { makeAccount } from '@millrace/testing';
import { DeploymentLifeStore } from './deployment-life.store';
import { DeploymentStore } from './deployment.store';
import { DeploymentWorld, VERSION } from './fixtures/deployment-world';
import { DeploymentVersionStore } from './versions';

let world: DeploymentWorld;
beforeAll(async () => {
  world = await DeploymentWorld.open();
});
afterAll(() => world.test.drop());

/** A deployment of an account that wants to know when it is ready, and when it stops. */
async function watched(): Promise<{ id: string; endpointId: string }> {
  const accountId = await makeAccount(world.test.database);
  const endpointId = newId();
  const endpoint = {
    url: 'https://receiver.example.com/',
    origin: 'https://a.example',
    eventTypes: ['deployment.ready', 'deployment.stopped'],
  };
  await world.test.database.models.webhookEndpoint.create({ data: { id: endpointId, accountId, ...endpoint } });
  return { id: (await world.create({ accountId })).id, endpointId };
}
const messages = async (endpointId: string): Promise<unknown[]> => {
  const rows = await world.test.database.models.webhookMessage.findMany({
    where: { endpointId },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ type, data }) => [type, data]);
};
const stop = (id: string): Promise<unknown> => world.service.stop(world.test.database, id);
const start = (id: string): Promise<unknown> => world.service.start(world.test.database, id);
const remove = (id: string): Promise<void> => new DeploymentLifeStore().remove(world.test.database, id);

describe('that a deployment takes no more jobs is a message to its account:', () => {
  it('once when it is stopped, also by several at once, and again when it was started between', async () => {
    const { id, endpointId } = await watched();
    await Promise.all([stop(id), stop(id), stop(id), stop(id)]);
    const message = ['deployment.stopped', { id, name: 'a test', reason: 'stopped' }];
    expect(await messages(endpointId)).toEqual([message]);
    await start(id);
    expect(await messages(endpointId)).toEqual([message]);
    await stop(id);
    expect(await messages(endpointId)).toEqual([message, message]);
  });

  it('when it is deleted while it runs, not when it was stopped before', async () => {
    const [running, stopped] = [await watched(), await watched()];
    await stop(stopped.id);
    await Promise.all([remove(running.id), remove(running.id), remove(stopped.id)]);
    expect(await messages(running.endpointId)).toEqual([
      ['deployment.stopped', { id: running.id, name: 'a test', reason: 'deleted' }],
    ]);
    expect(await messages(stopped.endpointId)).toHaveLength(1);
  });

  it('not when the stop is undone', async () => {
    const { id, endpointId } = await watched();
    const undone = world.test.database.transaction(async (tx) => {
      await world.service.stop(tx, id);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await messages(endpointId)).toEqual([]);
  });
});

describe('that a deployment takes jobs is a message to its account:', () => {
  const ready = (id: string, version = 1): unknown => ['deployment.ready', { id, name: 'a test', version }];

  it('once for its first worker, not for others, nor for one that comes back', async () => {
    const { id, endpointId } = await watched();
    expect(await messages(endpointId)).toEqual([]);
    const workerId = await world.addReadyWorker(id);
    await world.addReadyWorker(id);
    await world.report(workerId, 'stopped');
    await world.addReadyWorker(id);
    expect(await messages(endpointId)).toEqual([ready(id)]);
  });

  it('again after it was stopped and started, and after a request found it without a worker', async () => {
    const { id, endpointId } = await watched();
    const workerId = await world.addReadyWorker(id);
    await stop(id);
    await start(id);
    await world.report(workerId, 'ready');
    const stopped = ['deployment.stopped', { id, name: 'a test', reason: 'stopped' }];
    expect(await messages(endpointId)).toEqual([ready(id), stopped, ready(id)]);
    await new DeploymentStore().noteWanted(world.test.database, id, id);
    await Promise.all([world.report(workerId, 'ready'), world.report(workerId, 'ready')]);
    expect(await messages(endpointId)).toEqual([ready(id), stopped, ready(id), ready(id)]);
  });

  it('for a version beside its own, by its number, and for none that has ended', async () => {
    const { id, endpointId } = await watched();
    const { database } = world.test;
    const versions = new DeploymentVersionStore();
    await versions.add(database, id, 2, VERSION, 50);
    await world.addReadyWorker(`${id}-v2`);
    expect(await messages(endpointId)).toEqual([ready(id, 2)]);
    await versions.endOther(database, id, 'account');
    await versions.add(database, id, 3, VERSION, 50);
    await versions.endOther(database, id, 'account');
    await world.addReadyWorker(`${id}-v3`);
    expect(await messages(endpointId)).toEqual([ready(id, 2)]);
  });

  it('not when it is deleted before a worker comes', async () => {
    const { id, endpointId } = await watched();
    await remove(id);
    await world.addReadyWorker(id);
    expect(await messages(endpointId)).toEqual([['deployment.stopped', { id, name: 'a test', reason: 'deleted' }]]);
  });
});
