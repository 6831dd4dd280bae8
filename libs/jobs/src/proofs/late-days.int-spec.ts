import { Prisma } from '@prisma/client';
import { RefusedError } from '@millrace/database';
import { createTestDatabase, onOneDay, type TestDatabase } from '@millrace/testing';
import { CreditJobs } from '../fixtures/credit-jobs';
import { LabelRuleStore } from '../labels';
import { SpendCapStore, NOTHING_SUMMED, composeSpendCaps } from '../spend';

const PRICE = 1_000n;
const tomorrow = Prisma.sql`(now() AT TIME ZONE 'UTC')::date + 1`;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(() => onOneDay());
afterAll(() => test.drop());

/** A running job of an account with a daily cap, of which a later day has begun: there others were charged so much. */
async function nextDay({ dailyMicros, chargedMicros }: { dailyMicros: bigint; chargedMicros: bigint }) {
  const jobs = await CreditJobs.make(test, 1_000_000n);
  await test.database.transaction((tx) =>
    composeSpendCaps(test.database).put(
      tx,
      jobs.accountId,
      {
        ...{ scope: 'account', keyId: null, dailyMicros, monthlyMicros: null },
        ...{ dailyAtCap: 'stop', monthlyAtCap: 'stop' },
      },
      NOTHING_SUMMED,
    ),
  );
  await jobs.submit(30_000n, PRICE);
  const claimed = await jobs.start();
  if (claimed === null) throw new Error('nothing was claimed');
  await change(jobs, Prisma.sql`day = ${tomorrow}, day_micros = ${chargedMicros}, month_micros = ${chargedMicros}`);
  await change(jobs, Prisma.sql`day_mail = 0, month_mail = 0`);
  return { jobs, claimed };
}

async function change({ accountId }: CreditJobs, set: Prisma.Sql): Promise<void> {
  await test.database.execute(Prisma.sql`UPDATE label_use SET ${set} WHERE account_id = ${accountId}::uuid`);
}

async function row({ accountId }: CreditJobs): Promise<Record<string, unknown> | undefined> {
  const [found] = await test.database.rows<Record<string, unknown>>(Prisma.sql`
    SELECT live, held_micros, day_micros, month_micros, day = ${tomorrow} AS is_its_day, warned_on = ${tomorrow} AS is_warned_of,
      day_warned, day_mail, day_stopped_on = ${tomorrow} AS stopped
    FROM label_use WHERE account_id = ${accountId}::uuid`);
  return found;
}

async function isSameMonth(): Promise<boolean> {
  const [found] = await test.database.rows<{ same: boolean }>(Prisma.sql`
    SELECT date_trunc('month', ${tomorrow}) = date_trunc('month', now() AT TIME ZONE 'UTC') AS same`);
  return found?.same === true;
}

it('a day that a clock which ran ahead has left counts as none: caps count on', async () => {
  const { jobs, claimed } = await nextDay({ dailyMicros: 35_000n, chargedMicros: 0n });
  await change(jobs, Prisma.sql`day = ${tomorrow} + 40, day_micros = 24_000, month_micros = 24_000`);
  expect((await jobs.end(claimed, 20_000, 'succeeded'))?.chargedMicros).toBe(20_000n);
  const [found] = await test.database.rows<Record<string, unknown>>(Prisma.sql`
    SELECT day + 1 = ${tomorrow} AS is_today, day_micros, month_micros FROM label_use WHERE account_id = ${jobs.accountId}::uuid`);
  expect(found).toEqual({ isToday: true, dayMicros: 20_000n, monthMicros: 20_000n });
  expect(await jobs.submit(20_000n, PRICE)).toBeNull();
});

it('of a day later in the month that a clock which ran ahead has left, the month counts on', async () => {
  const { jobs, claimed } = await nextDay({ dailyMicros: 35_000n, chargedMicros: 0n });
  const later = Prisma.sql`${tomorrow} + 2`;
  const [span] = await test.database.rows<{ same: boolean }>(Prisma.sql`
    SELECT date_trunc('month', ${later}) = date_trunc('month', now() AT TIME ZONE 'UTC') AS same`);
  await change(jobs, Prisma.sql`day = ${later}, day_micros = 24_000, month_micros = 24_000`);
  await jobs.end(claimed, 20_000, 'succeeded');
  const monthMicros = span?.same === true ? 44_000n : 20_000n;
  expect(await row(jobs)).toMatchObject({ isItsDay: false, dayMicros: 20_000n, monthMicros });
});

/*
 * A transaction has the day on which it began. Others that began after midnight may have counted before it gets its locks: for it, their day is
 * tomorrow.
 */
describe('a statement of the day before, in a day that others have begun', () => {
  it('counts the charge of its end in its own day, and leaves the sums of the later one', async () => {
    const { jobs, claimed } = await nextDay({ dailyMicros: 500_000n, chargedMicros: 7_000n });
    expect((await jobs.end(claimed, 20_000, 'succeeded'))?.chargedMicros).toBe(20_000n);
    expect(await row(jobs)).toMatchObject({
      ...{ live: 0, heldMicros: 0n, isItsDay: true },
      ...{ dayMicros: 7_000n, monthMicros: (await isSameMonth()) ? 27_000n : 7_000n },
    });
  });

  it('warns of nothing once more', async () => {
    const { jobs } = await nextDay({ dailyMicros: 500_000n, chargedMicros: 420_000n });
    expect(await row(jobs)).toMatchObject({ isWarnedOf: true, dayWarned: 80, dayMail: 0 });
    await jobs.submit(1_000n, PRICE);
    expect(await row(jobs)).toMatchObject({ live: 2, isWarnedOf: true, dayWarned: 80, dayMail: 0 });
  });

  it('notes no cap as reached in it', async () => {
    const { jobs } = await nextDay({ dailyMicros: 500_000n, chargedMicros: 420_000n });
    const reached = { label: '@account', value: '', limit: 'daily_micros' as const, most: 500_000 };
    await new SpendCapStore().noteReached(test.database, jobs.accountId, reached);
    expect(await row(jobs)).toMatchObject({ isWarnedOf: true, dayWarned: 80, dayMail: 0 });
  });

  it('is refused what the later one leaves no room for', async () => {
    const { jobs } = await nextDay({ dailyMicros: 100_000n, chargedMicros: 60_000n });
    await expect(jobs.world.submit({ holdMicros: 20_000n, priceMicrosPerSecond: PRICE })).rejects.toThrow(RefusedError);
  });

  it('extends a hold no further than the later one leaves room for, and notes there that the cap is used up', async () => {
    const { jobs, claimed } = await nextDay({ dailyMicros: 100_000n, chargedMicros: 60_000n });
    await jobs.beat(claimed, 25_000);
    expect(await row(jobs)).toMatchObject({ heldMicros: 40_000n });
    expect(await jobs.beat(claimed, 40_000)).toMatchObject({ exhausted: true });
    expect(await row(jobs)).toMatchObject({ heldMicros: 40_000n, stopped: true });
  });

  it('takes nothing of the later one from the records of usage', async () => {
    const { jobs } = await nextDay({ dailyMicros: 500_000n, chargedMicros: 7_000n });
    await test.database.execute(Prisma.sql`
      INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, finished_at)
      VALUES (gen_random_uuid(), ${jobs.accountId}::uuid, 'succeeded', 1, 5000, now())`);
    const cap = { label: '@account', value: '' };
    await test.database.transaction((tx) => new SpendCapStore().countCharged(tx, jobs.accountId, cap, NOTHING_SUMMED));
    expect(await row(jobs)).toMatchObject({ isItsDay: true, dayMicros: 7_000n });
  });

  it('forgets nothing of a later day', async () => {
    const { jobs, claimed } = await nextDay({ dailyMicros: 500_000n, chargedMicros: 7_000n });
    await jobs.end(claimed, 0, 'succeeded');
    await change(jobs, Prisma.sql`day = ${tomorrow}, day_micros = 7000, month_micros = 7000`);
    expect(await new LabelRuleStore().sweepUse(test.database, 10)).toBe(0);
  });
});
