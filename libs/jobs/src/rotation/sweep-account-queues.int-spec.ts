import { Prisma } from '@prisma/client';
import pg from 'pg';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { deleteExpiredJobs } from '../lifecycle/due-jobs.store';
import { IdleQueueStore } from './idle-queue.store';
import { SweepAccountQueuesLoop } from './sweep-account-queues.loop';

const queues = new IdleQueueStore();
let test: TestDatabase;
let world: JobWorld;
let loop: SweepAccountQueuesLoop;
let poolId: string;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
  loop = new SweepAccountQueuesLoop(test.database, queues);
});
afterAll(() => test.drop());
beforeEach(async () => {
  ({ poolId } = await makePool(test.database));
});

const newAccount = (): Promise<string> => makeAccount(test.database, { micros: 10_000_000n });

/** The accounts with a place in the rotation of the test's pool. */
async function accounts(): Promise<string[]> {
  const rows = await test.database.models.accountQueue.findMany({ where: { poolId } });
  return rows.map(({ accountId }) => accountId).sort();
}

async function passOf(accountId: string): Promise<bigint> {
  const where = { poolId_accountId: { poolId, accountId } };
  return (await test.database.models.accountQueue.findUniqueOrThrow({ where })).pass;
}
const virtualTime = async (): Promise<bigint> =>
  (await test.database.models.pool.findUniqueOrThrow({ where: { id: poolId } })).virtualTime;

/** An account runs a job, which is then past its retention and swept. */
async function useAndLeave(accountId: string): Promise<void> {
  const job = await world.submit({ poolId, accountId });
  await world.end(await world.start(job));
  await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`
      UPDATE jobs SET deadline_at = now() - interval '1 s', expires_at = now() - interval '1 s' WHERE id = ${job.id}::uuid`);
  });
  expect(await deleteExpiredJobs(test.database, [job.id])).toBe(1);
}

/** As the maintenance process runs it, hour by hour. */
async function sweepTwice(): Promise<void> {
  for (let hour = 0; hour < 2; hour += 1) while ((await loop.runOnce()) > 0);
}

describe('the place of an account in a rotation', () => {
  it('goes once no job of it is left, and those that have jobs stay', async () => {
    const [gone, waits, runs, ended] = await Promise.all([newAccount(), newAccount(), newAccount(), newAccount()]);
    await useAndLeave(gone);
    await world.end(await world.start(await world.submit({ poolId, accountId: ended })));
    await world.start(await world.submit({ poolId, accountId: runs }));
    await world.submit({ poolId, accountId: waits });
    await sweepTwice();
    expect(await accounts()).toEqual([waits, runs, ended].sort());
  });

  it('is made again by the next job, at virtual time, and never before the pass that it left', async () => {
    const accountId = await newAccount();
    await useAndLeave(accountId);
    const left = await passOf(accountId);
    expect(left).toBeGreaterThan(await virtualTime());
    // The first run lets time catch up, and takes nothing: a submission under way may have read the old time.
    expect(await loop.runOnce()).toBe(0);
    expect(await accounts()).toEqual([accountId]);
    expect(await virtualTime()).toBe(left);
    await sweepTwice();
    expect(await accounts()).toEqual([]);
    await world.submit({ poolId, accountId });
    expect(await passOf(accountId)).toBe(left);
  });

  it('that any number of accounts use once goes all the same', async () => {
    for (let count = 0; count < 5; count += 1) await useAndLeave(await newAccount());
    await sweepTwice();
    expect(await accounts()).toEqual([]);
  });

  it('does not set virtual time back', async () => {
    const accountId = await newAccount();
    await useAndLeave(accountId);
    await test.database.models.pool.update({ where: { id: poolId }, data: { virtualTime: 9_000_000n } });
    await sweepTwice();
    expect(await accounts()).toEqual([]);
    expect(await virtualTime()).toBe(9_000_000n);
  });
});

describe('a sweep that meets a submission', () => {
  let other: pg.Client;
  beforeEach(async () => {
    other = new pg.Client({ connectionString: test.url });
    await other.connect();
  });
  afterEach(() => other.end());

  const isWaiting = async (): Promise<boolean> => {
    const rows = await test.database.rows(Prisma.sql`
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
    return rows.length > 0;
  };

  it('passes a row that another statement has locked', async () => {
    const accountId = await newAccount();
    await useAndLeave(accountId);
    await loop.runOnce();
    await other.query('BEGIN');
    await other.query('SELECT FROM account_queues WHERE account_id = $1 FOR UPDATE', [accountId]);
    expect(await loop.runOnce()).toBe(0);
    await other.query('ROLLBACK');
    expect(await loop.runOnce()).toBe(1);
  });

  it('comes first: the submission makes the row again', async () => {
    const accountId = await newAccount();
    await useAndLeave(accountId);
    await loop.runOnce();
    await other.query('BEGIN');
    await other.query('DELETE FROM account_queues WHERE account_id = $1', [accountId]);
    const submitted = world.submit({ poolId, accountId });
    await eventually('the submission to wait', isWaiting);
    await other.query('COMMIT');
    const job = await submitted;
    expect(await world.queueOf(job)).toEqual({ waiting: 1, inFlight: 0 });
    await world.end(await world.start(job));
  });

  it('leaves a row whose job came after the row was read as idle', async () => {
    const accountId = await newAccount();
    await useAndLeave(accountId);
    await loop.runOnce();
    const [idle] = await queues.list(test.database, null, 10);
    await world.submit({ poolId, accountId });
    expect(await queues.forget(test.database, idle ?? { poolId, accountId })).toBe(false);
    expect(await world.queueOf({ poolId, accountId })).toEqual({ waiting: 1, inFlight: 0 });
  });

  it('of many accounts at once loses no job and no place', async () => {
    const everyone = await Promise.all(Array.from({ length: 6 }, newAccount));
    let isSweeping = true;
    const sweeping = (async () => {
      while (isSweeping) await loop.runOnce();
    })();
    try {
      await Promise.all(
        everyone.map(async (accountId) => {
          for (let count = 0; count < 5; count += 1) {
            const { poolId: own } = await makePool(test.database);
            const job = await world.submit({ poolId: own, accountId });
            await world.end(await world.start(job));
            await test.database.execute(Prisma.sql`DELETE FROM jobs WHERE id = ${job.id}::uuid`);
            await world.submit({ poolId: own, accountId });
            expect(await world.queueOf({ poolId: own, accountId })).toEqual({ waiting: 1, inFlight: 0 });
          }
        }),
      );
    } finally {
      isSweeping = false;
      await sweeping;
    }
  });
});

it('finds whether an account has jobs in a pool without reading all jobs, and so does the foreign key', async () => {
  const { poolId: busy } = await makePool(test.database);
  await world.queueMany(busy, await newAccount(), 5_000);
  await test.database.execute(Prisma.sql`ANALYZE jobs`);
  const accountId = await newAccount();
  await test.database.execute(Prisma.sql`
    INSERT INTO account_queues (pool_id, account_id, running_limit) VALUES (${poolId}, ${accountId}::uuid, 1)`);
  await test.database.transaction(async (tx) => {
    const scans = async (): Promise<number | undefined> => {
      const [row] = await tx.rows<{ scans: number }>(Prisma.sql`
        SELECT seq_scan::int AS scans FROM pg_stat_xact_user_tables WHERE relname = 'jobs'`);
      return row?.scans;
    };
    const before = await scans();
    expect(await queues.forget(tx, { poolId, accountId })).toBe(true);
    expect(await scans()).toBe(before);
  });
});
