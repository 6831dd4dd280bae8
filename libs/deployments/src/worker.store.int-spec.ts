import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { Metrics } from '@millrace/platform';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { MeasureWorkersLoop } from './measure-workers.loop';
import { WorkerStore, type WorkerReport } from './worker.store';

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

it('reports that it is there without waiting for the disk: the next report says it again', async () => {
  const id = await start(1, null);
  const waits = await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL synchronous_commit = on`);
    await workers.heartbeat(tx, id, { state: 'ready', residentModels: [], problem: null });
    return tx.rows(Prisma.sql`SELECT current_setting('synchronous_commit') AS waits`);
  });
  expect(waits).toEqual([{ waits: 'off' }]);
});

it('records texts that PostgreSQL cannot store without what it cannot: programs print anything', async () => {
  const id = await start(1, null);
  const texts = { problem: 'it printed \0 and \ud83d', modelsNote: 'not \0' };
  expect(await workers.heartbeat(test.database, id, { state: 'starting', residentModels: [], ...texts })).toBe(
    'starting',
  );
  const stored = await test.database.models.worker.findUniqueOrThrow({ where: { id } });
  expect(stored).toMatchObject({ problem: 'it printed \ufffd and \ufffd', modelsNote: 'not \ufffd' });
});

describe('the workers of a pool', () => {
  it('are counted by state, as others see them, and not once they have stopped', async () => {
    const [silent, stopped] = [await start(1, null), await start(1, null), await start(1, null)];
    const long = new Date(Date.now() - 60_000);
    await test.database.models.worker.update({ where: { id: silent }, data: { lastSeenAt: long } });
    await workers.heartbeat(test.database, stopped, { state: 'stopped', residentModels: [], problem: null });
    const metrics = new Metrics('a test');
    await new MeasureWorkersLoop(test.database, workers, metrics).runOnce();
    const { values } = await metrics.workers.get();
    const own = values.filter(({ labels }) => labels.pool === poolId);
    expect(own.map(({ labels, value }) => [labels.state, value]).sort()).toEqual([
      ['lost', 1],
      ['ready', 1],
    ]);
    await new MeasureWorkersLoop(test.database, { count: () => Promise.resolve([]) }, metrics).runOnce();
    expect((await metrics.workers.get()).values).toEqual([]);
  });
});

describe('a worker that can run nothing', () => {
  const sickSince = async (id: string): Promise<Date | null> =>
    (await test.database.models.worker.findUniqueOrThrow({ where: { id } })).sickSince;

  it('is sick from its first report of a problem to the next without, and not while it comes up', async () => {
    const id = await start(1, null);
    const report = (state: WorkerReport['state'], problem: string | null): Promise<unknown> =>
      workers.heartbeat(test.database, id, { state, residentModels: [], problem });
    await report('starting', null);
    expect(await sickSince(id)).toBeNull();
    await report('starting', 'a test');
    const since = await sickSince(id);
    expect(since).not.toBeNull();
    await report('starting', 'another');
    expect(await sickSince(id)).toEqual(since);
    // Some of its engines are well.
    await report('ready', 'another');
    expect(await sickSince(id)).toBeNull();
  });
});

describe('a worker that is to drain', () => {
  const well: WorkerReport = { state: 'ready', residentModels: [], problem: null };
  const heartbeat = (id: string): Promise<unknown> => workers.heartbeat(test.database, id, well);

  it('still is when it is back after it was marked lost, until it is undrained', async () => {
    const id = await start(1, null);
    await workers.drain(test.database, id);
    await test.database.models.worker.update({ where: { id }, data: { lastSeenAt: new Date(Date.now() - 61_000) } });
    expect(await workers.retireSilent(test.database, 60, 100)).toBeGreaterThanOrEqual(1);
    expect([await heartbeat(id), await workers.room(test.database, poolId, null)]).toEqual(['draining', 0]);
    await workers.undrain(test.database, id);
    expect([await heartbeat(id), await workers.room(test.database, poolId, null)]).toEqual(['ready', 1]);
  });
});

describe('the pace of a pool', () => {
  it('is unknown while no worker has run anything, and nothing without workers', async () => {
    expect(await workers.pace(test.database, poolId)).toEqual({ capacity: 0, inFlight: 0, attemptMs: null });
    await start(2, null);
    expect(await workers.pace(test.database, poolId)).toEqual({ capacity: 2, inFlight: 0, attemptMs: null });
  });

  it('is the mean of what its workers report, each weighted by its capacity', async () => {
    await start(1, 1_000);
    await start(3, 2_000);
    await start(1, null);
    expect(await workers.pace(test.database, poolId)).toEqual({ capacity: 5, inFlight: 0, attemptMs: 1_750 });
  });

  it('leaves out workers that are silent or draining, and keeps what a worker reported before', async () => {
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

describe('the list of workers', () => {
  const WELL: WorkerReport = { state: 'ready', residentModels: ['a.safetensors'], problem: null };

  /** Let a worker's last report be so old, on PostgreSQL's clock. */
  async function silence(id: string, seconds: number): Promise<void> {
    await test.database.execute(Prisma.sql`
      UPDATE workers SET last_seen_at = now() - make_interval(secs => ${seconds}) WHERE id = ${id}::uuid`);
  }

  async function seen(withStopped: boolean): Promise<Record<string, string>> {
    const list = await workers.list(test.database, { poolId, withStopped });
    return Object.fromEntries(list.map(({ id, state }) => [id, state]));
  }

  it('shows who is lost by the last report of each, before a loop has marked it', async () => {
    const [ready, silent, leaving] = [await start(1, null), await start(1, null), await start(1, null)];
    await workers.drain(test.database, leaving);
    await silence(silent, 16);
    await silence(leaving, 3_600);
    expect(await seen(false)).toEqual({ [ready]: 'ready', [silent]: 'lost', [leaving]: 'lost' });
    await workers.heartbeat(test.database, silent, WELL);
    await workers.heartbeat(test.database, leaving, WELL);
    expect(await seen(false)).toEqual({ [ready]: 'ready', [silent]: 'ready', [leaving]: 'draining' });
  });

  it('distinguishes one that reported its stop from one that was marked stopped', async () => {
    const [ended, killed] = [await start(1, null), await start(1, null)];
    await workers.heartbeat(test.database, ended, { ...WELL, state: 'stopped' });
    await silence(killed, 61);
    expect(await workers.retireSilent(test.database, 60, 100)).toBeGreaterThanOrEqual(1);
    expect(await seen(false)).toEqual({});
    expect(await seen(true)).toEqual({ [ended]: 'stopped', [killed]: 'lost' });
  });

  it('has everything that each has reported, the newest first', async () => {
    const older = await start(2, null);
    const newer = await start(1, null);
    await workers.heartbeat(test.database, older, WELL);
    const list = await workers.list(test.database, { poolId, withStopped: false });
    expect(list.map(({ id }) => id)).toEqual([newer, older]);
    expect(list[1]).toEqual({
      ...{ id: older, poolId, engine: 'cpu', version: 't', host: 't', pid: 1, capacity: 2, ...WELL },
      ...{ startedAt: expect.any(Date) as Date, lastSeenAt: expect.any(Date) as Date, stoppedAt: null },
    });
  });

  it('drains one that is lost, and none that has stopped', async () => {
    const [silent, ended] = [await start(1, null), await start(1, null)];
    await silence(silent, 30);
    await workers.heartbeat(test.database, ended, { ...WELL, state: 'stopped' });
    expect(await workers.drain(test.database, silent)).toMatchObject({ id: silent, state: 'lost' });
    await workers.heartbeat(test.database, silent, WELL);
    expect(await seen(true)).toEqual({ [silent]: 'draining', [ended]: 'stopped' });
    expect(await workers.drain(test.database, ended)).toBeNull();
  });
});
