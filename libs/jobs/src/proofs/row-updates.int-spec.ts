import { Prisma } from '@prisma/client';
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
  it.each(['account_queues', 'jobs'])('of %s in the life of a job writes the indexes, too', async (table) => {
    const { poolId } = await makePool(test.database);
    const draft = await world.draft({ poolId });
    await world.submit(draft);
    const seen: Record<string, Updates> = {};
    const second = await world.draft({ poolId, accountId: draft.accountId });
    seen.submission = await updatesOf(table, (tx) => world.submissions.record(tx, second));
    seen.turn = await updatesOf(table, (tx) => world.dispatch(poolId, tx));
    const first = await test.database.models.job.findFirstOrThrow({ where: { poolId, delivery: 'dispatched' } });
    const claimed = await world.claim({ jobId: first.id, attempt: 1 });
    if (claimed === null) throw new Error('the attempt was not there to be claimed');
    seen.heartbeat = await updatesOf(table, (tx) => world.beat(claimed, 0, tx));
    seen.return = await updatesOf(table, (tx) => handBackAttempt(tx, claimed));
    for (const { hot } of Object.values(seen)) expect(hot).toBe(0);
    expect(Object.values(seen).some(({ updates }) => updates > 0)).toBe(true);
  });

  it('of workers with a heartbeat writes the indexes, too', async () => {
    const { poolId } = await makePool(test.database);
    const updated = await updatesOf('workers', (tx) =>
      tx.execute(Prisma.sql`UPDATE workers SET last_seen_at = now() WHERE pool_id = ${poolId}`),
    );
    expect(updated).toEqual({ updates: 1, hot: 0 });
  });

  it('of account_queues is HOT only when a job ends and none waits: no index has the jobs in flight', async () => {
    const job = await world.submit();
    const claimed = await world.start(job);
    const updated = await updatesOf('account_queues', (tx) => world.end(claimed, endingOf('succeeded'), tx));
    expect(updated).toEqual({ updates: 1, hot: 1 });
  });
});
