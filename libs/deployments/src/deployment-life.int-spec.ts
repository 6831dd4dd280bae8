import type { Deployment } from './deployment';
import { DeploymentWorld } from './fixtures/deployment-world';

const ALLOWANCE = { deployments: 100, workers: 100 };

let world: DeploymentWorld;
beforeAll(async () => {
  world = await DeploymentWorld.open();
  await world.offer([
    { name: 'cpu', engine: 'cpu', priceMicrosPerSecond: 10 },
    { name: 'dear', engine: 'cpu', priceMicrosPerSecond: 90 },
  ]);
});
afterAll(() => world.test.drop());

/** A deployment of the class `cpu` at a price that an operator set. */
const priced = (): Promise<Deployment> => world.create({ priceMicrosPerSecond: 3n });
const change = (id: string, changes: object): Promise<Deployment> =>
  world.test.database.transaction((tx) => world.life.change(tx, id, changes, ALLOWANCE));

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
