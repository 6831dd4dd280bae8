import { newId } from '@millrace/contracts';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { WorkerStore } from './worker.store';

const workers = new WorkerStore();

let test: TestDatabase;
let poolId: string;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  poolId = `pool-${newId()}`;
  await test.database.models.pool.create({ data: { id: poolId, engine: 'cpu' } });
});

async function start(capacity: number, attemptMs: number | null): Promise<string> {
  const id = newId();
  await workers.register(test.database, { id, poolId, engine: 'cpu', version: 't', host: 't', pid: 1, capacity });
  await workers.heartbeat(test.database, id, { state: 'ready', residentModels: [], problem: null, attemptMs });
  return id;
}

describe('the pace of a pool', () => {
  it('is unknown while no worker has run anything, and nothing without workers', async () => {
    expect(await workers.pace(test.database, poolId)).toEqual({ capacity: 0, inFlight: 0, attemptMs: null });
    await start(2, null);
    expect(await workers.pace(test.database, poolId)).toEqual({ capacity: 2, inFlight: 0, attemptMs: null });
  });

  it('is the mean of what its workers tell, each as often as it runs attempts at once', async () => {
    await start(1, 1_000);
    await start(3, 2_000);
    await start(1, null);
    expect(await workers.pace(test.database, poolId)).toEqual({ capacity: 5, inFlight: 0, attemptMs: 1_750 });
  });

  it('leaves out who is silent or about to go, and keeps what a worker told before', async () => {
    const silent = await start(1, 9_000);
    const leaving = await start(1, 9_000);
    const well = await start(1, 1_000);
    const long = new Date(Date.now() - 60_000);
    await test.database.models.worker.update({ where: { id: silent }, data: { lastSeenAt: long } });
    await workers.drain(test.database, leaving);
    await workers.heartbeat(test.database, well, { state: 'ready', residentModels: [], problem: null });
    expect(await workers.pace(test.database, poolId)).toMatchObject({ capacity: 1, attemptMs: 1_000 });
  });
});
