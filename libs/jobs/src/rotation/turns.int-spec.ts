import { Prisma } from '@prisma/client';
import fc from 'fast-check';
import { besideTransaction } from '@millrace/database';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { ONE_TURN, TurnStore, type Turn } from './turn.store';

const turns = new TurnStore();

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

/** What an account has in a pool. */
interface Place {
  jobs: number;
  weight: number;
  runningLimit: number;
  pass: number;
}

interface Scene {
  places: Place[];
  room: number;
  /** Passes behind it are not read; null: everything is read. */
  watermark: number | null;
  /** Turns of each statement. */
  batches: number[];
}

const scene: fc.Arbitrary<Scene> = fc.record({
  places: fc.array(
    fc.record({
      jobs: fc.integer({ min: 1, max: 8 }),
      weight: fc.integer({ min: 1, max: 5 }),
      runningLimit: fc.integer({ min: 0, max: 6 }),
      pass: fc.constantFrom(0, 1, 333_333, 1_000_000, 5_000_000),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  room: fc.integer({ min: 1, max: 25 }),
  watermark: fc.option(fc.constantFrom(1, 1_000_000, 6_000_000)),
  batches: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 }),
});

/** A pool with these accounts, whose ids are in the order of the places. */
async function build(places: Place[]): Promise<{ poolId: string; accounts: string[] }> {
  const { poolId } = await makePool(test.database);
  const accounts = (await Promise.all(places.map(() => makeAccount(test.database)))).sort();
  for (const [index, { jobs, weight, runningLimit, pass }] of places.entries()) {
    const accountId = accounts[index] ?? '';
    await world.queueMany(poolId, accountId, jobs);
    await test.database.execute(Prisma.sql`
      UPDATE account_queues SET weight = ${weight}, running_limit = ${runningLimit}, pass = ${pass}
      WHERE pool_id = ${poolId} AND account_id = ${accountId}::uuid`);
    await test.database.execute(Prisma.sql`
      UPDATE jobs SET priority = p.priority
      FROM (SELECT id, (row_number() OVER (ORDER BY id) % 3)::int AS priority FROM jobs
            WHERE pool_id = ${poolId} AND account_id = ${accountId}::uuid) p
      WHERE jobs.id = p.id`);
  }
  return { poolId, accounts };
}

/** What statements of so many turns each come to, by the place of each account and the rank of each job in its account. */
async function outcome({ places, room, watermark }: Scene, batches: number[]): Promise<unknown> {
  const { poolId, accounts } = await build(places);
  const waiting = await test.database.query<{ id: string; accountId: string }>(Prisma.sql`
    SELECT id, account_id AS "accountId" FROM jobs WHERE pool_id = ${poolId} ORDER BY account_id, priority DESC, id`);
  const nameOf = (jobId: string): string => {
    const accountId = waiting.find(({ id }) => id === jobId)?.accountId ?? '';
    const rank = waiting.filter((job) => job.accountId === accountId).findIndex(({ id }) => id === jobId);
    return `${accounts.indexOf(accountId)}.${rank}`;
  };
  const watermarks = watermark === null ? null : { pass: BigInt(watermark), inFlightSince: new Date(0) };
  const taken: Turn[] = [];
  for (const most of batches)
    taken.push(...(await turns.take(test.database, poolId, room, { ...ONE_TURN, most, watermarks })));
  const queues = await test.database.query(Prisma.sql`
    SELECT q.pass, q.waiting, q.in_flight, p.virtual_time FROM account_queues q JOIN pools p ON p.id = q.pool_id
    WHERE q.pool_id = ${poolId} ORDER BY q.account_id`);
  const { length } = await test.database.query(Prisma.sql`
    SELECT FROM jobs WHERE pool_id = ${poolId} AND delivery = 'dispatched'`);
  const given = taken.flatMap(({ job, inFlight }) => (job === null ? [] : [[nameOf(job.jobId), inFlight]]));
  expect(given).toHaveLength(length);
  return { given, queues };
}

describe('turns of one statement', () => {
  it('are those that as many statements of one turn each give, and leave the same', async () => {
    await fc.assert(
      fc.asyncProperty(
        scene.map((drawn) => ({ ...drawn, watermark: null })),
        async (drawn) => {
          const single = drawn.batches.flatMap((most) => Array<number>(most).fill(1));
          expect(await outcome(drawn, drawn.batches)).toEqual(await outcome(drawn, single));
        },
      ),
      { numRuns: 15 },
    );
  });

  it('are from a watermark those that there are from the start where nobody is behind it', async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (drawn) => {
        const all = [100];
        const given = async (of: Scene): Promise<unknown> => ((await outcome(of, all)) as { given: unknown }).given;
        const { places, watermark } = drawn;
        const isBehind = ({ pass }: Place): boolean => watermark !== null && pass < watermark;
        const others = places.map((place) => (isBehind(place) ? { ...place, runningLimit: 0 } : place));
        expect(await given(drawn)).toEqual(await given({ ...drawn, places: others, watermark: null }));
      }),
      { numRuns: 8 },
    );
  });

  it('go to the accounts behind one of which all waiting jobs are locked, and say so', async () => {
    const place = { jobs: 3, weight: 1, runningLimit: 9, pass: 0 };
    const { poolId, accounts } = await build([place, { ...place, jobs: 2 }]);
    await test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`
        SELECT FROM jobs WHERE pool_id = ${poolId} AND account_id = ${accounts[0]}::uuid FOR UPDATE`);
      const taken = (most: number): Promise<Turn[]> =>
        besideTransaction(() => turns.take(test.database, poolId, 9, { ...ONE_TURN, most }));
      expect((await taken(1)).map(({ job, skipped }) => [job, skipped])).toEqual([[null, true]]);
      expect((await taken(9)).map(({ job, skipped }) => [job !== null, skipped])).toEqual([
        [true, true],
        [true, true],
        [false, true],
      ]);
    });
    // Once they are free it has its turns.
    const after = await turns.take(test.database, poolId, 9, { ...ONE_TURN, most: 9 });
    expect(after.map(({ job, skipped }) => [job !== null, skipped])).toEqual([
      [true, false],
      [true, false],
      [true, false],
      [false, false],
    ]);
  });

  it('say why there were no more of them', async () => {
    const place = { jobs: 3, weight: 1, runningLimit: 9, pass: 0 };
    const taken = async (room: number, most: number): Promise<unknown> => {
      const { poolId } = await build([place]);
      const rows = await turns.take(test.database, poolId, room, { ...ONE_TURN, most });
      return rows.map(({ job, inFlight }) => [job !== null, inFlight]);
    };
    expect(await taken(2, 9)).toEqual([
      [true, 0],
      [true, 1],
    ]);
    expect(await taken(9, 2)).toEqual([
      [true, 0],
      [true, 1],
    ]);
    expect(await taken(9, 9)).toEqual([
      [true, 0],
      [true, 1],
      [true, 2],
      [false, 3],
    ]);
    expect(await taken(0, 9)).toEqual([[false, 0]]);
  });
});
