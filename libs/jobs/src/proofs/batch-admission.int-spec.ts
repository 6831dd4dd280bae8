import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { Prisma } from '@prisma/client';
import fc from 'fast-check';
import { INSUFFICIENT_CREDITS } from '@millrace/billing';
import { Refusal, newId, type JobMetadata } from '@millrace/contracts';
import { RefusedError } from '@millrace/database';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import type { SubmittedBatch } from '../batches/batch-submissions.service';
import { BatchWorld } from '../fixtures/batch-world';
import { JobWorld } from '../fixtures/job-world';
import { composeLabelRules } from '../labels';
import { NOTHING_SUMMED, composeSpendCaps, type SpendCapDraft } from '../spend';
import type { LabelRuleDraft } from '../labels/label-rule';
import { refusalOf } from '../submission';

/** What each job of the world holds. */
const HOLD_MICROS = 60_000n;
/** Wholes of it. */
const holds = (count: number): bigint => HOLD_MICROS * BigInt(count);

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** What an account has room for. */
interface Limits {
  queueLimit: number;
  /** Holds that its credits cover. */
  credits: number;
  rules: Partial<LabelRuleDraft>[];
  caps: Partial<SpendCapDraft & { ofKey: boolean }>[];
}

const noRule = {
  ...{ value: null, maxJobs: null, dailyMicros: null, monthlyMicros: null, retentionSeconds: null },
  ...{ dailyAtCap: null, monthlyAtCap: null },
};
const noCap = { dailyMicros: null, monthlyMicros: null, dailyAtCap: 'finish', monthlyAtCap: 'finish' } as const;

/** An account of its own with these limits, and a key. */
async function open({ credits, rules, caps }: Limits): Promise<{ world: BatchWorld; apiKeyId: string }> {
  const world = new BatchWorld(
    test,
    await makeAccount(test.database, { micros: holds(credits) + 1n }),
    (await makePool(test.database)).poolId,
  );
  const { accountId } = world;
  const apiKeyId = newId();
  const key = { name: 'a key', keyHash: createHash('sha256').update(apiKeyId).digest(), lastFour: 'abcd', scopes: [] };
  await test.database.models.apiKey.create({ data: { id: apiKeyId, accountId, ...key } });
  await test.database.transaction(async (tx) => {
    for (const rule of rules) {
      await composeLabelRules(test.database).put(tx, accountId, { label: 'user', ...noRule, ...rule });
    }
    for (const { ofKey = false, ...cap } of caps) {
      const scope = ofKey ? { scope: 'key' as const, keyId: apiKeyId } : { scope: 'account' as const, keyId: null };
      await composeSpendCaps(test.database).put(tx, accountId, { ...noCap, ...scope, ...cap }, NOTHING_SUMMED);
    }
  });
  return { world, apiKeyId };
}

/** Submit jobs as one batch. @returns of each the code with which it is refused; null where it is accepted. */
async function asBatch(limits: Limits, jobs: readonly JobMetadata[]): Promise<Outcome> {
  const { world, apiKeyId } = await open(limits);
  const outcome: (string | null)[] = jobs.map(() => null);
  const body = Buffer.from(JSON.stringify({ admission: 'each', jobs: jobs.map((metadata) => ({ metadata })) }));
  const submission = world.submission(0);
  const caller = { ...submission.caller, apiKeyId, limits: { weight: 1, queueLimit: limits.queueLimit } };
  const asked = { ...submission, body, caller: caller as unknown as typeof submission.caller };
  const refused = await world
    .submissions()
    .submit(asked)
    .then(({ batch }) => batch.refused, allRefused(jobs.length));
  for (const { index, code } of refused) outcome[index] = code;
  return { outcome, left: await leftOf(world) };
}

/** The refusals of a batch of which nothing was recorded. */
function allRefused(jobs: number): (error: unknown) => { index: number; code: string }[] {
  return (error) => {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'batch_refused') return (error.details as { items: { index: number; code: string }[] }).items;
    return Array.from({ length: jobs }, (_, index) => ({ index, code: error.code }));
  };
}

/** Submit the same jobs one after the other. */
async function alone(limits: Limits, jobs: readonly JobMetadata[]): Promise<Outcome> {
  const { world, apiKeyId } = await open(limits);
  const { accountId, poolId } = world;
  const single = new JobWorld(test, { accountId, poolId, apiKeyId, queueLimit: limits.queueLimit });
  const outcome: (string | null)[] = [];
  for (const metadata of jobs) {
    const draft = await single.draft({ metadata });
    const code = await single.submissions.record(test.database, draft).then(
      () => null,
      (error: unknown) => {
        if (error instanceof RefusedError && error.reason === INSUFFICIENT_CREDITS) return INSUFFICIENT_CREDITS;
        const refusal = refusalOf(error, draft);
        if (!(refusal instanceof Refusal)) throw error;
        return refusal.code;
      },
    );
    outcome.push(code);
  }
  return { outcome, left: await leftOf(world) };
}

interface Outcome {
  outcome: (string | null)[];
  /** What is counted afterwards. */
  left: object;
}

async function leftOf({ accountId }: BatchWorld): Promise<object> {
  const [row] = await test.database.rows<object>(Prisma.sql`
    SELECT (SELECT held_micros FROM balances WHERE account_id = ${accountId}::uuid) AS held,
      (SELECT coalesce(sum(waiting), 0)::int FROM account_queues WHERE account_id = ${accountId}::uuid) AS waiting,
      (SELECT json_agg(json_build_array(label, CASE WHEN label <> '@key' THEN value END, live, held_micros) ORDER BY label, value)
       FROM label_use WHERE account_id = ${accountId}::uuid AND live > 0) AS used`);
  return row ?? {};
}

const few = fc.integer({ min: 0, max: 6 });
const some = fc.option(few, { nil: null });
const micros = some.map((count) => (count === null ? null : holds(count)));
const atCap = fc.constantFrom('stop' as const, 'finish' as const, null);
const person = fc.constantFrom('ada', 'bob', 'cy');
const rule = fc.record({
  label: fc.constantFrom('user', 'team'),
  value: fc.option(person, { nil: null }),
  ...{ maxJobs: some, dailyMicros: micros, monthlyMicros: micros, dailyAtCap: atCap, monthlyAtCap: atCap },
});
const cap = fc.record({
  ofKey: fc.boolean(),
  ...{ dailyMicros: few.map(holds), monthlyMicros: micros },
  dailyAtCap: fc.constantFrom('stop' as const, 'finish' as const),
});
const limits: fc.Arbitrary<Limits> = fc.record({
  queueLimit: fc.integer({ min: 1, max: 12 }),
  credits: fc.integer({ min: 0, max: 12 }),
  rules: fc.array(rule, { maxLength: 3 }),
  caps: fc.array(cap, { maxLength: 2 }),
});
const job = fc.oneof(
  fc.constant<JobMetadata>({}),
  fc.record({ user: person }),
  fc.record({ user: person, team: person }),
);

describe('a batch of which each job counts by itself', () => {
  it('has the jobs accepted that single submissions would be, in their order, for the same reasons', async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(job, { minLength: 1, maxLength: 14 }), async (limited, jobs) => {
        const [together, single] = [await asBatch(limited, jobs), await alone(limited, jobs)];
        // Which of several rules is named that refuse a job is open.
        const isOneRule = limited.rules.length + limited.caps.length <= 1;
        const reasons = ({ outcome }: Outcome): (string | null)[] => (isOneRule ? outcome : outcome.map(anyRule));
        expect([reasons(together), together.left]).toEqual([reasons(single), single.left]);
      }),
      { numRuns: 40 },
    );
  }, 600_000);

  it('warns of a cap that refused some of its jobs, as a refused submission does', async () => {
    const { world } = await open({
      queueLimit: 100,
      credits: 100,
      rules: [],
      caps: [{ dailyMicros: (HOLD_MICROS * 5n) / 2n }],
    });
    const { batch } = await submit(world, 3);
    expect(batch).toMatchObject({ jobCount: 2, refused: [{ index: 2, code: 'spend_cap' }] });
    const [used] = await test.database.rows<{ warned: number }>(Prisma.sql`
      SELECT day_warned AS warned FROM label_use WHERE account_id = ${world.accountId}::uuid AND label = '@account'`);
    expect(used?.warned).toBe(100);
  });

  it('is fitted again where others took its room, and not where that would be the same', async () => {
    const { world } = await open({ queueLimit: 100, credits: 4, rules: [], caps: [] });
    const other = new JobWorld(test, { accountId: world.accountId, poolId: world.poolId });
    let calls = 0;
    // On a connection of its own, beside the transaction of the batch.
    const beside = AsyncLocalStorage.snapshot();
    const late = world.writing(async (...args) => {
      calls += 1;
      if (calls === 1) await beside(() => other.submit());
      return world.jobs.write(...args);
    });
    const { batch } = await submit(world, 4, late);
    expect([calls, batch.jobCount]).toEqual([2, 3]);
    const full = world.writing(() => {
      calls += 1;
      return Promise.reject(new RefusedError('storage_full'));
    });
    await makeRoom(world);
    calls = 0;
    await expect(submit(world, 2, full)).rejects.toMatchObject({ code: 'storage_full' });
    expect(calls).toBe(1);
  });
});

const BY_RULES = ['label_limit', 'label_spend_limit', 'spend_cap'];

function anyRule(code: string | null): string | null {
  return code !== null && BY_RULES.includes(code) ? 'a rule' : code;
}

async function makeRoom({ accountId }: BatchWorld): Promise<void> {
  await test.database.execute(Prisma.sql`
    UPDATE balances SET available_micros = available_micros + ${holds(10)} WHERE account_id = ${accountId}::uuid`);
}

function submit(world: BatchWorld, jobs: number, store?: ReturnType<BatchWorld['writing']>): Promise<SubmittedBatch> {
  const body = Buffer.from(JSON.stringify({ admission: 'each', jobs: Array.from({ length: jobs }, () => ({})) }));
  return world.submissions(store).submit({ ...world.submission(0), body });
}
