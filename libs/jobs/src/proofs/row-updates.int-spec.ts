import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { createTestDatabase, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld, endingOf } from '../fixtures/job-world';
import { handBackAttempt } from '../lifecycle/release.store';

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

interface Updates {
  updates: number;
  hot: number;
}

const HOT: Updates = { updates: 1, hot: 1 };
const INDEXED: Updates = { updates: 1, hot: 0 };

/** How many rows of a table a connection has updated so far, and how many of those updates were HOT. */
async function countsOf(tx: Statements, table: string): Promise<Updates> {
  const [row] = await tx.rows<Updates>(Prisma.sql`
    SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot FROM pg_stat_xact_user_tables WHERE relname = ${table}`);
  return row ?? { updates: 0, hot: 0 };
}

/** What of that is a statement's. The view has what the connection did before, as well, until that is reported. */
async function updatesOf(table: string, work: (tx: Statements) => Promise<unknown>): Promise<Updates> {
  return test.database.transaction(async (tx) => {
    const before = await countsOf(tx, table);
    await work(tx);
    const after = await countsOf(tx, table);
    return { updates: after.updates - before.updates, hot: after.hot - before.hot };
  });
}

// What libs/jobs/src/rotation/README.md says of updates.
describe('an update', () => {
  it('of account_queues is HOT, in a turn as well, which moves the row of account_turns', async () => {
    const { poolId } = await makePool(test.database);
    const draft = await world.draft({ poolId });
    await world.submit(draft);
    const another = await world.draft({ poolId, accountId: draft.accountId });
    expect(await updatesOf('account_queues', (tx) => world.submissions.record(tx, another))).toEqual(HOT);
    const turn = (tx: Statements): Promise<unknown> => world.dispatch(poolId, tx);
    expect(await updatesOf('account_queues', turn)).toEqual(HOT);
    expect(await updatesOf('account_turns', (tx) => world.dispatch(poolId, tx))).toEqual({ updates: 0, hot: 0 });
    await world.submit({ ...another, id: newId() });
    await world.submit({ ...another, id: newId() });
    expect(await updatesOf('account_turns', turn)).toEqual(INDEXED);
    const claimed = await world.start({ poolId });
    const ended = (tx: Statements): Promise<unknown> => world.end(claimed, endingOf('succeeded'), tx);
    expect(await updatesOf('account_queues', ended)).toEqual(HOT);
  });

  it('of jobs is HOT where a lease is renewed, and writes the indexes where the job moves', async () => {
    const { poolId } = await makePool(test.database);
    await world.submit(await world.draft({ poolId }));
    expect(await updatesOf('jobs', (tx) => world.dispatch(poolId, tx))).toEqual(INDEXED);
    const job = await test.database.models.job.findFirstOrThrow({ where: { poolId, delivery: 'dispatched' } });
    const claimed = await world.claim({ jobId: job.id, attempt: 1 });
    if (claimed === null) throw new Error('the attempt was not there to be claimed');
    expect(await updatesOf('jobs', (tx) => world.beat(claimed, 0, tx))).toEqual(HOT);
    expect(await updatesOf('jobs', (tx) => handBackAttempt(tx, claimed))).toEqual(INDEXED);
  });

  it('of workers with a heartbeat is HOT', async () => {
    const { poolId } = await makePool(test.database);
    const beat = (tx: Statements): Promise<unknown> =>
      tx.execute(Prisma.sql`UPDATE workers SET last_seen_at = now() WHERE pool_id = ${poolId}`);
    expect(await updatesOf('workers', beat)).toEqual(HOT);
  });
});
