import { Prisma } from '@prisma/client';
import type { Database } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { listExpiredJobs, listStoppedJobs, type DueJob } from './due-jobs.store';
import { RecallStoppedJobsLoop } from './recall-stopped-jobs.loop';
import { SweepExpiredJobsLoop } from './sweep-expired-jobs.loop';

/** Of that many jobs of one batch, these cannot be done. */
const COUNT = 25;
const POISON = [0, 7, 8, 24];
/** More than it takes, also on a busy machine. */
const RUNS = 5;

let test: TestDatabase;
let world: JobWorld;
beforeEach(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterEach(() => test.drop());

const sql = (statement: Prisma.Sql): Promise<number> => test.database.execute(statement);

/** Jobs past their retention. */
async function expired(): Promise<string[]> {
  const { poolId } = await makePool(test.database);
  const ids: string[] = [];
  for (let count = 0; count < COUNT; count += 1) {
    const job = await world.submit({ poolId, holdMicros: 0n });
    await world.end(await world.start(job));
    ids.push(job.id);
  }
  await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`
      UPDATE jobs SET deadline_at = now() - interval '1 h', expires_at = now() - interval '1 h'
        + make_interval(secs => array_position(${ids}::uuid[], id))`);
  });
  return ids;
}

/** Jobs in the lane of a deployment that is stopped, each of an account of its own. */
async function inStoppedLane(): Promise<string[]> {
  const { poolId } = await makePool(test.database);
  const ids: string[] = [];
  for (let count = 0; count < COUNT; count += 1) {
    const job = await world.submit({ poolId, holdMicros: 0n });
    await world.dispatch(poolId);
    ids.push(job.id);
  }
  const accountId = await makeAccount(test.database);
  await sql(Prisma.sql`
    INSERT INTO deployments (id, account_id, name, pool_id, desired_state)
    VALUES (gen_random_uuid(), ${accountId}::uuid, 'stopped', ${poolId}, 'stopped')`);
  return ids;
}

/** No statement can change or delete these jobs. */
async function poison(ids: readonly string[]): Promise<void> {
  const list = Prisma.raw(ids.map((id) => `'${id}'`).join(', '));
  await sql(Prisma.sql`
    CREATE TRIGGER poison_trigger BEFORE UPDATE OR DELETE ON jobs FOR EACH ROW WHEN (OLD.id IN (${list}))
      EXECUTE FUNCTION refuse_change('a row that cannot be read')`);
}

const chores: [string, () => Promise<string[]>, (database: Database) => Loop, typeof listExpiredJobs][] = [
  ['a job past its retention', expired, (database) => new SweepExpiredJobsLoop(database), listExpiredJobs],
  ['a job in the lane of a stopped deployment', inStoppedLane, (to) => new RecallStoppedJobsLoop(to), listStoppedJobs],
];

describe.each(chores)('%s', (_what, makeDue, makeLoop, list) => {
  const due = (): Promise<DueJob[]> => list(test.database, null, 1_000);

  it('that cannot be changed is found, reported and passed: all others of its batch are done', async () => {
    const ids = await makeDue();
    const bad = POISON.map((index) => ids[index] ?? '');
    await poison(bad);
    const failed = new Set<string>();
    const report = { failed: (item: string) => void failed.add(item), resting: () => undefined };
    const loop = makeLoop(test.database);
    let done = 0;
    // PostgreSQL reports a failure before it lets the rows go: those that the next statement passes over have the next run.
    for (let runs = 0; runs < RUNS && done < COUNT - POISON.length; runs += 1) done += await loop.runOnce(report);
    expect(done).toBe(COUNT - POISON.length);
    expect([...failed].sort()).toEqual([...bad].sort());
    expect((await due()).map(({ id }) => id).sort()).toEqual([...bad].sort());
  });

  it('has its turn page by page, once', async () => {
    const ids = await makeDue();
    const met: string[] = [];
    for (let page = await list(test.database, null, 10); page.length > 0 && met.length < 1_000;) {
      met.push(...page.map(({ id }) => id));
      page = await list(test.database, page.at(-1)?.turn ?? null, 10);
    }
    expect([...met].sort()).toEqual([...ids].sort());
  });

  it('is not blamed when the database is away: the run fails, and the next does all', async () => {
    const ids = await makeDue();
    await sql(Prisma.sql`
      CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION USING ERRCODE = '57P01', MESSAGE = 'a server that stops'; END $$`);
    await sql(Prisma.sql`CREATE TRIGGER away_trigger BEFORE UPDATE OR DELETE ON jobs EXECUTE FUNCTION away()`);
    const failed: string[] = [];
    const report = { failed: (item: string) => void failed.push(item), resting: () => undefined };
    const loop = makeLoop(test.database);
    await expect(loop.runOnce(report)).rejects.toMatchObject({ message: expect.stringContaining('stops') as string });
    expect(failed).toEqual([]);
    await sql(Prisma.sql`DROP TRIGGER away_trigger ON jobs`);
    expect(await loop.runOnce(report)).toBe(ids.length);
    expect(await due()).toEqual([]);
  });
});
