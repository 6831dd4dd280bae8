import { Prisma } from '@prisma/client';
import pg from 'pg';
import type { Statements } from '@millrace/database';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { ONE_TURN, STRIDE, TurnStore } from './turn.store';

const LIVES = 150;
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
  tables = ['account_queues', 'jobs', 'pools'],
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

  it('a turn from the start reads the rotation once, also where it has an account to lock', async () => {
    await world.submit({ poolId, accountId, holdMicros: 0n });
    const turn = async (tx: Statements): Promise<void> => {
      const [{ job }] = await turns.take(tx, poolId, 1, ONE_TURN);
      expect(job).not.toBeNull();
    };
    const met = await entriesMet(turn, ['account_queues']);
    expect(met).toBeGreaterThan(LIVES - 1);
    expect(met).toBeLessThan(LIVES + 10);
  });
});
