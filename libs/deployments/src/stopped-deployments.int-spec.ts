import { newId } from '@millrace/contracts';
import { makeAccount } from '@millrace/testing';
import { DeploymentLifeStore } from './deployment-life.store';
import { DeploymentWorld } from './fixtures/deployment-world';

let world: DeploymentWorld;
beforeAll(async () => {
  world = await DeploymentWorld.open();
});
afterAll(() => world.test.drop());

/** A deployment of an account that wants to know when it stops. */
async function watched(): Promise<{ id: string; endpointId: string }> {
  const accountId = await makeAccount(world.test.database);
  const endpointId = newId();
  const endpoint = {
    url: 'https://receiver.example.com/',
    origin: 'https://a.example',
    eventTypes: ['deployment.stopped'],
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
