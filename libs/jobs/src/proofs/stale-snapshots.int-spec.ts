import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { besideTransaction, type Statements } from '@millrace/database';
import { createTestDatabase, eventually, makePool, onOneDay, type TestDatabase } from '@millrace/testing';
import { JobAudit } from '../audit';
import { CreditJobs } from '../fixtures/credit-jobs';
import { endingOf } from '../fixtures/job-world';
import { LabelRuleStore } from '../labels';
import { NOTHING_SUMMED, composeSpendCaps } from '../spend';
import { endJob } from '../lifecycle/end.store';
import { RetiredPoolStore } from '../retired/retired-pool.store';

const PRICE = 1_000n;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(() => onOneDay());
afterAll(() => test.drop());

/** Begin `later` while the locks of `first` are held, and let it have them when it waits: its snapshot is older then. */
async function behind<T>(first: (tx: Statements) => Promise<unknown>, later: () => Promise<T>): Promise<T> {
  let waiting: Promise<T> | undefined;
  await test.database.transaction(async (tx) => {
    await first(tx);
    waiting = besideTransaction(later);
    waiting.catch(() => undefined);
    await eventually('a statement to wait', async () => {
      const isWaiting = Prisma.sql`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      const rows = await besideTransaction(() => test.database.query(isWaiting));
      return rows.length > 0;
    });
  });
  if (waiting === undefined) throw new Error('nothing was begun');
  return waiting;
}

async function running(micros: bigint, hold: bigint) {
  const jobs = await CreditJobs.make(test, micros);
  await jobs.submit(hold, PRICE);
  const claimed = await jobs.start();
  if (claimed === null) throw new Error('nothing was claimed');
  return { jobs, claimed };
}

/** A daily cap of the account, set in a transaction: it counts the jobs that have not ended. */
const capped =
  ({ accountId }: CreditJobs, dailyMicros: bigint) =>
  (tx: Statements): Promise<unknown> =>
    composeSpendCaps(test.database).put(
      tx,
      accountId,
      {
        ...{ scope: 'account', keyId: null, dailyMicros, monthlyMicros: null },
        ...{ dailyAtCap: 'stop', monthlyAtCap: 'stop' },
      },
      NOTHING_SUMMED,
    );

/** All that is wrong with jobs, queues and counts by label. */
async function findings(): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const finding of new JobAudit(test.database).findings()) found.push(finding);
  return found;
}

describe('a statement that waited for another counts with what that one left', () => {
  it('when a job ends while its hold is extended', async () => {
    const { jobs, claimed } = await running(1_000_000n, 30_000n);
    const moved = await behind(
      (tx) => jobs.world.beat(claimed, 25_000, tx),
      () => jobs.end(claimed, 70_000, 'succeeded'),
    );
    expect(moved?.chargedMicros).toBe(70_000n);
    expect(await jobs.balance()).toEqual({ availableMicros: 930_000n, heldMicros: 0n });
    expect(await jobs.findings()).toEqual([]);
  });

  it('when a hold is extended while credits are added', async () => {
    const { jobs, claimed } = await running(35_000n, 30_000n);
    const adjustment = { amountMicros: 100_000n, reason: 'a test', expiresAt: null, corrects: null, key: null };
    const answer = await behind(
      (tx) => jobs.billing.credits.adjust(tx, 'test', jobs.accountId, adjustment),
      () => jobs.beat(claimed, 25_000),
    );
    expect(answer).toEqual({ status: 'running', exhausted: false, overtime: false });
    expect(await jobs.balance()).toEqual({ availableMicros: 45_000n, heldMicros: 90_000n });
    expect(await jobs.findings()).toEqual([]);
  });

  it('when a job is canceled while it is dispatched', async () => {
    const jobs = await CreditJobs.make(test, 100_000n);
    const jobId = await jobs.submit(30_000n, PRICE);
    const moved = await behind(
      (tx) => jobs.world.dispatch(jobs.poolId, tx),
      () => jobs.cancelQueued(jobId ?? ''),
    );
    expect(moved?.status).toBe('canceled');
    const [queue] = await test.database.models.accountQueue.findMany({ where: { accountId: jobs.accountId } });
    expect(queue).toMatchObject({ waiting: 0, inFlight: 0 });
    expect(await jobs.balance()).toEqual({ availableMicros: 100_000n, heldMicros: 0n });
  });
});

it('a job that is claimed just before its deadline does not expire without its attempt, and then with it', async () => {
  const jobs = await CreditJobs.make(test, 100_000n);
  const jobId = (await jobs.submit(30_000n, PRICE)) ?? '';
  const next = await jobs.world.dispatch(jobs.poolId);
  if (next === null) throw new Error('nothing was dispatched');
  const expire = () => endJob(test.database, { kind: 'overdue', jobId }, endingOf('deadline_passed'));
  const passDeadline = async (): Promise<void> => {
    await test.database.execute(Prisma.sql`
      UPDATE jobs SET deadline_at = clock_timestamp() + interval '1 ms' WHERE id = ${jobId}::uuid`);
    await eventually('the deadline to pass', async () => {
      const isOver = Prisma.sql`SELECT 1 FROM jobs WHERE id = ${jobId}::uuid AND deadline_at <= now()`;
      return (await test.database.query(isOver)).length > 0;
    });
  };
  await behind(async (tx) => {
    // The claim is of the time at which its transaction begins.
    await tx.rows(Prisma.sql`SELECT now()`);
    await besideTransaction(passDeadline);
    expect(await jobs.world.claim(next, 60, tx)).toMatchObject({ jobId, attempt: 1 });
  }, expire);
  expect(await findings()).toEqual([]);
  await expire();
  const [attempt] = await test.database.models.jobAttempt.findMany({ where: { jobId } });
  expect(attempt).toMatchObject({ outcome: 'expired', endedAt: expect.any(Date) as Date });
  expect(await findings()).toEqual([]);
  expect(await jobs.balance()).toEqual({ availableMicros: 100_000n, heldMicros: 0n });
});

describe('a statement that waited for another counts in a row that this one has made', () => {
  it('when the hold of a job is extended while the first cap of its account is set, which it keeps, and the job ends', async () => {
    const { jobs, claimed } = await running(1_000_000n, 30_000n);
    await behind(capped(jobs, 50_000n), () => jobs.beat(claimed, 25_000));
    expect(await jobs.balance()).toEqual({ availableMicros: 950_000n, heldMicros: 50_000n });
    expect(await findings()).toEqual([]);
    expect((await jobs.end(claimed, 40_000, 'succeeded'))?.chargedMicros).toBe(40_000n);
    expect(await jobs.balance()).toEqual({ availableMicros: 960_000n, heldMicros: 0n });
    expect(await findings()).toEqual([]);
  });

  it('when a job ends while the first cap of its account is set, which counts what it was charged', async () => {
    const { jobs, claimed } = await running(1_000_000n, 30_000n);
    const moved = await behind(capped(jobs, 50_000n), () => jobs.end(claimed, 20_000, 'succeeded'));
    expect(moved?.chargedMicros).toBe(20_000n);
    const use = await new LabelRuleStore().use(test.database, jobs.accountId, '@account', '');
    expect(use).toMatchObject({ live: 0, heldMicros: 0n, dayMicros: 20_000n });
    expect(await findings()).toEqual([]);
  });

  it('when a job is canceled while it moves to the queue of another pool', async () => {
    const jobs = await CreditJobs.make(test, 100_000n);
    const jobId = await jobs.submit(30_000n, PRICE);
    const { poolId: toPoolId } = await makePool(test.database);
    const { accountId } = jobs;
    await test.database.models.deployment.create({ data: { id: newId(), accountId, name: 'stays', poolId: toPoolId } });
    const moved = await behind(
      (tx) => new RetiredPoolStore(PRICE).move(tx, { poolId: jobs.poolId, toPoolId }, 500),
      () => jobs.cancelQueued(jobId ?? ''),
    );
    expect(moved?.status).toBe('canceled');
    const queues = await test.database.models.accountQueue.findMany({ where: { accountId: jobs.accountId } });
    expect(queues.map(({ poolId, waiting, inFlight }) => [poolId, waiting, inFlight]).sort()).toEqual(
      [jobs.poolId, toPoolId].map((pool) => [pool, 0, 0]).sort(),
    );
    expect(await findings()).toEqual([]);
  });
});
