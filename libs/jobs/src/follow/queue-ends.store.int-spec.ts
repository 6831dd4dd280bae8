import { Prisma } from '@prisma/client';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { countAhead } from '../fixtures/count-ahead';
import { JobWorld } from '../fixtures/job-world';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { QueueEnds } from './queue-ends';
import { END_LENGTH, QueueEndsStore } from './queue-ends.store';

const MANY = 10_000;

let test: TestDatabase;
let poolId: string;
const store = new QueueEndsStore();
beforeAll(async () => {
  test = await createTestDatabase();
  ({ poolId } = await makePool(test.database));
});
afterAll(() => test.drop());

/** An account with jobs waiting. @returns it, and the jobs in their order. */
async function accountWith(jobs: number): Promise<{ accountId: string; queue: string[] }> {
  const accountId = await makeAccount(test.database);
  await new JobWorld(test).queueMany(poolId, accountId, jobs);
  const rows = await test.database.query<{ id: string }>(Prisma.sql`
    SELECT id FROM jobs WHERE account_id = ${accountId}::uuid ORDER BY priority DESC, id`);
  return { accountId, queue: rows.map(({ id }) => id) };
}

describe('the ends of a queue', () => {
  it.each([0, 1, END_LENGTH, END_LENGTH + 1, 2 * END_LENGTH, 3 * END_LENGTH])(
    'of %d jobs are its first and its last, none of them twice',
    async (length) => {
      const { accountId, queue } = await accountWith(length);
      const { waiting, first, last } = await store.read(test.database, poolId, accountId);
      expect(waiting).toBe(length);
      expect(first).toEqual(queue.slice(0, END_LENGTH));
      expect(last).toEqual(queue.slice(END_LENGTH).slice(-END_LENGTH).reverse());
      const ends = new QueueEnds({ waiting, first, last });
      for (const id of [...first, ...last].filter((_, nth) => nth % 20 === 0)) {
        expect(ends.ahead(id)).toBe(await countAhead(test.database, { id, poolId, accountId }));
      }
    },
  );

  it('of an account that never had a job there are nothing', async () => {
    const accountId = await makeAccount(test.database);
    expect(await store.read(test.database, poolId, accountId)).toEqual({ waiting: 0, first: [], last: [] });
  });

  it(`are read at the price of both, however many wait between and beside them`, async () => {
    const { accountId } = await accountWith(MANY);
    await accountWith(MANY);
    await test.database.execute(Prisma.sql`VACUUM (ANALYZE) jobs`);
    const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${store.readSql(poolId, accountId)}`,
    );
    const nodes = (row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => nodesOf(Plan));
    const readings = nodes.filter((node) => node['Relation Name'] === 'jobs');
    expect(readings.map((node) => node['Index Name'])).toEqual(['jobs_waiting_idx', 'jobs_waiting_idx']);
    for (const reading of readings) expect(reading['Actual Rows']).toBeLessThanOrEqual(END_LENGTH);
  });
});
