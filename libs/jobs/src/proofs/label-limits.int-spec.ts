import { Prisma } from '@prisma/client';
import { Refusal } from '@millrace/contracts';
import { RefusedError } from '@millrace/database';
import { readSettings } from '@millrace/platform';
import { createTestDatabase, makeAccount, makePool, onOneDay, type TestDatabase } from '@millrace/testing';
import { CreditJobs } from '../fixtures/credit-jobs';
import { JobWorld, cloudScope, endingOf, type TestDraft } from '../fixtures/job-world';
import { composeLabelRules, labelRefusal, retentionByLabel, type LabelUse } from '../labels';
import type { LabelRuleDraft } from '../labels/label-rule';
import { LabelRuleStore } from '../labels/label-rule.store';
import { jobSettings } from '../job.settings';
import { endJob } from '../lifecycle/end.store';
import { GroupStore } from '../submission';

const CONNECTIONS = 10;
const PRICE = 1_000n;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase(CONNECTIONS);
});
beforeEach(() => onOneDay());
afterAll(() => test.drop());

const none = {
  ...{ value: null, maxJobs: null, dailyMicros: null, monthlyMicros: null, retentionSeconds: null },
  ...{ dailyAtCap: null, monthlyAtCap: null },
};
async function rule(accountId: string, draft: Partial<LabelRuleDraft>): Promise<string> {
  const rules = composeLabelRules(test.database);
  const made = await test.database.transaction((tx) => rules.put(tx, accountId, { label: 'user', ...none, ...draft }));
  return made.id;
}
const useOf = (accountId: string, value: string): Promise<LabelUse> =>
  composeLabelRules(test.database).use(accountId, 'user', value);
/** The limit that refuses it; null where it was accepted. */
async function refusedBy(submit: Promise<unknown>): Promise<string | null> {
  try {
    await submit;
    return null;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const refusal = labelRefusal(error.reason);
    if (!(refusal instanceof Refusal)) throw error;
    return `${refusal.code} ${(refusal.details as { limit: string }).limit}`;
  }
}
/** What is counted is what there is. */
async function assertCounted(accountId: string): Promise<void> {
  const [wrong] = await test.database.rows<{ count: number }>(Prisma.sql`
    SELECT count(*)::int AS count FROM label_use u CROSS JOIN LATERAL (
      SELECT count(*)::int AS live, coalesce(sum(j.held_micros), 0)::bigint AS held FROM jobs j
      WHERE j.account_id = u.account_id AND j.delivery <> 'done' AND u.label = ANY (j.limited_labels) AND j.metadata ->> u.label = u.value
    ) j WHERE u.account_id = ${accountId}::uuid AND (u.live <> j.live OR u.held_micros <> j.held)`);
  expect(wrong?.count).toBe(0);
}

describe('the jobs of a label', () => {
  let world: JobWorld;
  let accountId: string;
  beforeEach(async () => {
    accountId = await makeAccount(test.database, { micros: 10_000_000n });
    const { poolId } = await makePool(test.database, 100);
    world = new JobWorld(test, { accountId, poolId, runningLimit: 100, queueLimit: 1_000 });
  });
  const submit = (user: string | null, more: object = {}): Promise<TestDraft> =>
    world.submit({ metadata: user === null ? {} : { user }, ...more });
  const cancel = (jobId: string): Promise<unknown> =>
    endJob(test.database, { kind: 'queued', scope: cloudScope(accountId), jobId }, endingOf('canceled_while_queued'));

  it('are limited together, those of each value by themselves, others not', async () => {
    await rule(accountId, { maxJobs: 2 });
    const first = await submit('ada');
    await submit('ada');
    expect(await refusedBy(submit('ada'))).toBe('label_limit max_jobs');
    expect(await refusedBy(submit('bob'))).toBeNull();
    expect(await refusedBy(submit(null))).toBeNull();
    expect(await refusedBy(world.submit({ metadata: { team: 'ada' } }))).toBeNull();
    await cancel(first.id);
    expect(await refusedBy(submit('ada'))).toBeNull();
    expect(await refusedBy(submit('ada'))).toBe('label_limit max_jobs');
    await assertCounted(accountId);
  });

  it('have the rule of their value before that of every value', async () => {
    await rule(accountId, { maxJobs: 1 });
    const own = await rule(accountId, { value: 'ada', maxJobs: 2 });
    await submit('ada');
    await submit('ada');
    expect(await refusedBy(submit('ada'))).toBe('label_limit max_jobs');
    await submit('bob');
    expect(await refusedBy(submit('bob'))).toBe('label_limit max_jobs');
    await test.database.transaction((tx) => composeLabelRules(test.database).delete(tx, accountId, own));
    expect(await refusedBy(submit('ada'))).toBe('label_limit max_jobs');
    await rule(accountId, { maxJobs: 3 });
    expect(await refusedBy(submit('ada'))).toBeNull();
  });

  it('are not those of another account, and a refused one leaves nothing', async () => {
    await rule(await makeAccount(test.database), { maxJobs: 0 });
    expect(await refusedBy(submit('ada'))).toBeNull();
    await rule(accountId, { maxJobs: 0 });
    expect(await refusedBy(submit('ada'))).toBe('label_limit max_jobs');
    expect(await test.database.models.job.count({ where: { accountId } })).toBe(1);
    expect((await useOf(accountId, 'ada')).live).toBe(0);
  });

  it('are as many as may be when very many come at once, alone and in groups', async () => {
    await rule(accountId, { maxJobs: 7 });
    const answers = await Promise.all(Array.from({ length: 40 }, () => refusedBy(submit('ada'))));
    expect(answers.filter((answer) => answer === null)).toHaveLength(7);
    const store = new GroupStore(readSettings(jobSettings, {}));
    const group = async (): Promise<string | null> => {
      const drafts = await Promise.all(Array.from({ length: 4 }, () => world.draft({ metadata: { user: 'bob' } })));
      return refusedBy(store.record(test.database, drafts, 5_000));
    };
    expect((await Promise.all(Array.from({ length: 10 }, group))).filter((answer) => answer === null)).toHaveLength(1);
    expect((await useOf(accountId, 'bob')).live).toBe(4);
    await assertCounted(accountId);
  });

  it('are counted until they end, also where their label is forgotten meanwhile', async () => {
    await rule(accountId, { maxJobs: 7 });
    const store = new LabelRuleStore();
    const forget = (): Promise<number> =>
      test.database.transaction((tx) => store.forget(tx, accountId, { label: 'user', value: 'ada' }, 100));
    const first = await submit('ada');
    expect(await forget()).toBe(0);
    const second = await submit('ada');
    for (const job of [first, second]) await cancel(job?.id ?? '');
    expect((await useOf(accountId, 'ada')).live).toBe(0);
    await assertCounted(accountId);
    expect(await forget()).toBe(1);
  });

  it('are kept for as long as their rule says, alone and in a group, and never longer than others', async () => {
    await rule(accountId, { retentionSeconds: 7_200 });
    await rule(accountId, { value: 'eve', retentionSeconds: 100_000_000 });
    const drafts = await Promise.all(['ada', 'eve'].map((user) => world.draft({ metadata: { user } })));
    const store = new GroupStore(readSettings(jobSettings, {}));
    const [ada, eve] = await store.record(test.database, drafts, 5_000);
    const bob = await submit('bob');
    const none = await submit(null);
    const keptOf = async (id: string): Promise<[number, number]> => {
      const job = await test.database.models.job.findUniqueOrThrow({ where: { id } });
      const seconds = (time: Date): number => Math.round((time.getTime() - job.createdAt.getTime()) / 1_000);
      return [seconds(job.deadlineAt), seconds(job.expiresAt)];
    };
    const ruled = async (metadata: Record<string, string>): Promise<number | null | undefined> =>
      (
        await test.database.rows<{ kept: number | null }>(
          Prisma.sql`SELECT ${retentionByLabel(accountId, metadata)} AS kept`,
        )
      )[0]?.kept;
    expect(await ruled({ user: 'ada', shot: '7' })).toBe(7_200);
    expect(await ruled({ shot: '7' })).toBeNull();
    const all: [number, number] = [86_400, 604_800];
    expect(await Promise.all([ada?.id ?? '', eve?.id ?? '', bob.id, none.id].map(keptOf))).toEqual([
      [6_480, 7_200],
      all,
      [6_480, 7_200],
      all,
    ]);
  });

  it('are forgotten when they have ended and cost nothing this month, and counted again', async () => {
    await rule(accountId, { maxJobs: 2 });
    const { id } = await submit('ada');
    const store = new LabelRuleStore();
    const sweep = (): Promise<number> => store.sweepUse(test.database, 1_000);
    await sweep();
    expect((await useOf(accountId, 'ada')).live).toBe(1);
    await cancel(id);
    expect(await sweep()).toBeGreaterThan(0);
    await submit('ada');
    expect((await useOf(accountId, 'ada')).live).toBe(1);
  });
});

describe('what the jobs of a label cost', () => {
  const make = async (limits: Partial<LabelRuleDraft>): Promise<CreditJobs> => {
    const jobs = await CreditJobs.make(test, 10_000_000n);
    await rule(jobs.accountId, limits);
    return jobs;
  };
  const submit = (jobs: CreditJobs, holdMicros: bigint): Promise<unknown> =>
    jobs.world.submit({ holdMicros, priceMicrosPerSecond: PRICE, metadata: { user: 'ada' } });
  const run = async (jobs: CreditJobs, ms: number): Promise<void> => {
    const claimed = await jobs.start();
    if (claimed !== null) await jobs.end(claimed, ms, 'succeeded');
  };

  it('is limited by day and month, what is held for them included', async () => {
    const jobs = await make({ dailyMicros: 100_000n, monthlyMicros: 150_000n });
    await submit(jobs, 60_000n);
    expect(await refusedBy(submit(jobs, 60_000n))).toBe('label_spend_limit daily_micros');
    await run(jobs, 30_000);
    expect(await useOf(jobs.accountId, 'ada')).toMatchObject({
      live: 0,
      heldMicros: 0n,
      dayMicros: 30_000n,
      monthMicros: 30_000n,
    });
    expect(await refusedBy(submit(jobs, 60_000n))).toBeNull();
    await run(jobs, 60_000);
    expect(await refusedBy(submit(jobs, 20_000n))).toBe('label_spend_limit daily_micros');
    // As on the next day of the month.
    await test.database.execute(Prisma.sql`
      UPDATE label_use SET day_micros = 0 WHERE account_id = ${jobs.accountId}::uuid`);
    expect(await refusedBy(submit(jobs, 50_000n))).toBeNull();
    expect(await refusedBy(submit(jobs, 20_000n))).toBe('label_spend_limit monthly_micros');
    await assertCounted(jobs.accountId);
    await test.database.execute(Prisma.sql`
      UPDATE label_use SET day = day - 40 WHERE account_id = ${jobs.accountId}::uuid`);
    expect(await refusedBy(submit(jobs, 50_000n))).toBeNull();
    await assertCounted(jobs.accountId);
    expect(await jobs.findings()).toEqual([]);
  });

  it('limits how far the holds of running jobs are extended, of several at once together', async () => {
    const jobs = await make({ dailyMicros: 100_000n });
    await submit(jobs, 30_000n);
    await submit(jobs, 30_000n);
    const [first, second] = [await jobs.start(), await jobs.start()];
    if (first === null || second === null) throw new Error('nothing was claimed');
    await Promise.all([jobs.beat(first, 25_000), jobs.beat(second, 25_000)]);
    expect((await useOf(jobs.accountId, 'ada')).heldMicros).toBe(100_000n);
    await assertCounted(jobs.accountId);
    const ends = await Promise.all([jobs.beat(first, 99_000), jobs.beat(second, 99_000)]);
    expect(ends.map((answer) => answer?.exhausted)).toEqual([true, true]);
    const charged = [
      await jobs.end(first, 99_000, 'credits_exhausted'),
      await jobs.end(second, 99_000, 'credits_exhausted'),
    ];
    expect(charged.reduce((sum, moved) => sum + (moved?.chargedMicros ?? 0n), 0n)).toBe(100_000n);
    expect(await useOf(jobs.accountId, 'ada')).toMatchObject({ live: 0, heldMicros: 0n, dayMicros: 100_000n });
    expect(await refusedBy(submit(jobs, 1n))).toBe('label_spend_limit daily_micros');
    expect(await jobs.findings()).toEqual([]);
  });

  it('is never more than the limit, when jobs come, run on and end at once', async () => {
    const jobs = await make({ dailyMicros: 200_000n });
    const actor = async (): Promise<void> => {
      for (let time = 0; time < 4; time += 1) {
        await refusedBy(submit(jobs, 20_000n));
        const claimed = await jobs.start().catch(() => null);
        if (claimed === null) continue;
        await jobs.beat(claimed, 19_000);
        await jobs.end(claimed, 40_000, 'succeeded');
      }
    };
    await Promise.all(Array.from({ length: 8 }, actor));
    const { dayMicros, heldMicros } = await useOf(jobs.accountId, 'ada');
    expect(dayMicros).toBeGreaterThan(0n);
    expect(dayMicros + heldMicros).toBeLessThanOrEqual(200_000n);
    await assertCounted(jobs.accountId);
    expect(await jobs.findings()).toEqual([]);
  });
});
