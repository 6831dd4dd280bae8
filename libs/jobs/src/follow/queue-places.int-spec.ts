import { Prisma } from '@prisma/client';
import { WorkerStore } from '@millrace/deployments';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld, cloudScope } from '../fixtures/job-world';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { AccountQueueStore } from '../rotation/account-queue.store';
import { QueueEstimates } from '../rotation/queue-estimates';
import { JobReads } from './job-reads.service';
import { JobStore } from './job.store';
import { QueueEndsStore } from './queue-ends.store';
import { QueueRanks } from './queue-ranks';

const MANY = 10_000;

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

function makeReads(): JobReads {
  const estimates = new QueueEstimates(test.database, new AccountQueueStore(), new WorkerStore());
  const ranks = new QueueRanks(test.database, new QueueEndsStore());
  return new JobReads(test.database, new JobStore(), estimates, ranks, { progress: () => Promise.resolve([]) });
}

describe('the places of queued jobs', () => {
  it('are each its own, those that have had their turn before those that wait for it, in polls as in lists', async () => {
    const { poolId } = await makePool(test.database);
    const accountId = await makeAccount(test.database, { micros: 1_000_000n });
    const scope = cloudScope(accountId);
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push((await world.submit({ poolId, accountId })).id);
    await world.start({ poolId });
    for (let n = 0; n < 2; n += 1) await world.dispatch(poolId);

    const reads = makeReads();
    const polled = ids.map(async (id) => (await reads.queuePlace(await reads.get(scope, id)))?.position ?? null);
    expect(await Promise.all(polled)).toEqual([null, 1, 2, 3, 4]);
    const page = { cursor: null, status: null, metadata: {}, limit: 10, createdAfter: null, createdBefore: null };
    const { places } = await reads.list(scope, page);
    expect(ids.map((id) => places.get(id)?.position ?? null)).toEqual([null, 1, 2, 3, 4]);
  });

  it('count no wait for an attempt of a worker that takes no more', async () => {
    const { poolId, workerId } = await makePool(test.database);
    await test.database.models.worker.update({ where: { id: workerId }, data: { attemptMs: 60_000 } });
    const accountId = await makeAccount(test.database, { micros: 1_000_000n });
    await world.submit({ poolId, accountId });
    const [{ id: next }, { id: later }] = [
      await world.submit({ poolId, accountId }),
      await world.submit({ poolId, accountId }),
    ];
    // Its worker is gone.
    await world.start({ poolId });
    const reads = makeReads();
    const placeOf = async (id: string): Promise<unknown> =>
      reads.queuePlace(await reads.get(cloudScope(accountId), id));
    expect(await placeOf(next)).toEqual({ position: 1, waitMs: 0 });
    expect(await placeOf(later)).toEqual({ position: 2, waitMs: 60_000 });
  });

  it('of jobs that have had their turn are read at the price of what is in flight, however many wait and have ended', async () => {
    const { poolId } = await makePool(test.database);
    const accountId = await makeAccount(test.database, { micros: 1_000_000n });
    await world.queueMany(poolId, accountId, MANY);
    const first = [await world.dispatch(poolId), await world.dispatch(poolId)].map((job) => job?.jobId);
    await test.database.execute(Prisma.sql`VACUUM (ANALYZE) jobs`);
    const store = new AccountQueueStore();
    expect(await store.listUnclaimed(test.database, poolId)).toEqual(first.map((id) => ({ id, isSetAside: false })));
    const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${store.listUnclaimedSql(poolId)}`,
    );
    const nodes = (row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => nodesOf(Plan));
    const readings = nodes.filter((node) => node['Relation Name'] === 'jobs');
    expect(readings.map((node) => [node['Index Name'], node['Actual Rows']])).toEqual([['jobs_in_flight_idx', 2]]);
  });
});
