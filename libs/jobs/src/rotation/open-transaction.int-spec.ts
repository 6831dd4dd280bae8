import { Prisma } from '@prisma/client';
import pg from 'pg';
import type { Statements } from '@millrace/database';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { ONE_TURN, STRIDE, TurnStore, type Watermarks } from './turn.store';

const LIVES = 150;
const ROOM = 100;
const turns = new TurnStore();

let test: TestDatabase;
let console: pg.Client;
let world: JobWorld;
let poolId: string;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
  ({ poolId } = await makePool(test.database));
  accountId = await makeAccount(test.database);
  console = new pg.Client({ connectionString: test.url });
  await console.connect();
  await console.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await console.query('SELECT FROM jobs LIMIT 1');
  for (let n = 0; n < LIVES; n += 1) {
    await world.submit({ poolId, accountId, holdMicros: 0n });
    const [{ job }] = await turns.take(test.database, poolId, 1, ONE_TURN);
    if (job === null) throw new Error('nobody had a turn');
    const claimed = await world.claim(job);
    if (claimed === null) throw new Error('the attempt was not there to be claimed');
    await world.end(claimed);
  }
});
afterAll(async () => {
  await console.end();
  await test.drop();
});

/** Entries of any index of the tables that reading meets, dead ones too. */
function entriesMet(
  read: (tx: Statements) => Promise<unknown>,
  tables = ['account_turns', 'account_queues', 'jobs', 'pools'],
): Promise<number> {
  return test.database.transaction(async (tx) => {
    const met = async (): Promise<number> => {
      const [row] = await tx.query<{ met: number }>(Prisma.sql`
        SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid))::int AS met FROM pg_index
        WHERE indrelid = ANY(${tables}::regclass[])`);
      return row?.met ?? NaN;
    };
    const before = await met();
    await read(tx);
    return (await met()) - before;
  });
}

describe('while a transaction stays open', () => {
  it('a turn that finds nobody reads from the watermarks on, where the next to come joins', async () => {
    const turn = await turns.take(test.database, poolId, 1, ONE_TURN);
    expect(turn).toMatchObject([{ job: null, found: { pass: BigInt((LIVES - 1) * STRIDE) } }]);
    const [{ found: watermarks }] = turn;
    expect(await entriesMet((tx) => turns.take(tx, poolId, 1, ONE_TURN))).toBeGreaterThan(2 * LIVES);
    expect(await entriesMet((tx) => turns.take(tx, poolId, 1, { ...ONE_TURN, watermarks }))).toBeLessThan(10);
  });

  it('a turn from the watermarks on reads the jobs of its account from the head on', async () => {
    const [{ found: watermarks }] = await turns.take(test.database, poolId, 1, ONE_TURN);
    const jobs = [
      await world.submit({ poolId, accountId, holdMicros: 0n }),
      await world.submit({ poolId, accountId, holdMicros: 0n }),
    ];
    const turn =
      (from: Watermarks | null) =>
      async (tx: Statements): Promise<void> => {
        const [{ job }] = await turns.take(tx, poolId, ROOM, { ...ONE_TURN, watermarks: from });
        expect(job?.jobId).toBe(jobs.shift()?.id);
      };
    expect(await entriesMet(turn(null), ['account_turns', 'jobs'])).toBeGreaterThan(3 * LIVES);
    expect(await entriesMet(turn(watermarks), ['account_turns', 'jobs'])).toBeLessThan(20);
  });

  it('a turn finds the queue of its account without those of its versions that are dead', async () => {
    const [row] = await test.database.query<{ pages: number }>(Prisma.sql`
      SELECT (pg_relation_size('account_queues') / current_setting('block_size')::int)::int AS pages`);
    expect(row?.pages).toBeGreaterThan(4);
    await world.submit({ poolId, accountId, holdMicros: 0n });
    const turn = async (tx: Statements): Promise<void> => {
      const [{ job }] = await turns.take(tx, poolId, ROOM, ONE_TURN);
      expect(job).not.toBeNull();
    };
    expect(await entriesMet(turn, ['account_queues'])).toBe(1);
  });

  it('a turn from the start reads the rotation once, also where it has an account to lock', async () => {
    await world.submit({ poolId, accountId, holdMicros: 0n });
    const turn = async (tx: Statements): Promise<void> => {
      const [{ job }] = await turns.take(tx, poolId, ROOM, ONE_TURN);
      expect(job).not.toBeNull();
    };
    const met = await entriesMet(turn, ['account_turns']);
    expect(met).toBeGreaterThan(LIVES - 1);
    expect(met).toBeLessThan(LIVES + 10);
  });
});
