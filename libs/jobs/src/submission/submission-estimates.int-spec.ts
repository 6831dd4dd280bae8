import { randomUUID } from 'node:crypto';
import { Prisma } from '@prisma/client';
import type { Caller } from '@millrace/accounts';
import { LedgerStore, billingSettings, holdMicrosOf } from '@millrace/billing';
import { Refusal, type JobMetadata, type NodeCatalogue } from '@millrace/contracts';
import { WorkerStore, type Target } from '@millrace/deployments';
import { readSettings } from '@millrace/platform';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld, cloudScope, endingOf } from '../fixtures/job-world';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { jobSettings } from '../job.settings';
import { composeLabelRules } from '../labels';
import { AccountQueueStore } from '../rotation/account-queue.store';
import { QueueEstimates } from '../rotation/queue-estimates';
import { RunTimesStore } from './run-times.store';
import { SubmissionChecks } from './submission-checks';
import { SubmissionEstimates, type SubmissionEstimate } from './submission-estimates.service';
import { SubmissionExaminer } from '../examination';
import { NO_REUSE } from '../fixtures/no-reuse';
import { workKeyOf } from '../examination';

const noModels = { known: () => Promise.resolve(new Set<string>()) };

const settings = {
  ...readSettings(jobSettings, {}),
  ...readSettings(billingSettings, {}),
  queueLimitPerAccount: 3,
  storageBytesPerAccount: 1_000,
};
const PRICE = 2_000n;
const integer = { type: 'INT', required: false } as const;
const catalogue: NodeCatalogue = {
  Show: {
    displayName: 'Show',
    category: '',
    description: '',
    inputs: { steps: integer, seed: integer, image: { type: 'COMBO', required: false, file: 'image' } },
    outputs: [],
    outputNode: true,
  },
};
const bodyOf = (steps: unknown, seed = 1): string =>
  `{"workflow":{"1":{"class_type":"Show","inputs":{"steps":${JSON.stringify(steps)},"seed":${seed}}}}}`;

const examiner = new SubmissionExaminer();
const runTimes = new RunTimesStore();

let test: TestDatabase;
let world: JobWorld;
let poolId: string;
let accountId: string;
let usedBytes: number;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(async () => {
  await examiner.close();
  await test.drop();
});
beforeEach(async () => {
  ({ poolId } = await makePool(test.database));
  accountId = await makeAccount(test.database, { micros: 10_000_000n });
  usedBytes = 0;
});

const LIMITS = {
  weight: 1,
  runningLimit: null,
  queueLimit: null,
  requestsPerMinute: null,
  streamLimit: null,
  uploadBytesPerDay: null,
  storageBytes: null,
  deploymentLimit: null,
  deploymentWorkerLimit: null,
};

interface Asked {
  /** Labels of the sub-key that asks. */
  labels?: JobMetadata;
  reuse?: typeof NO_REUSE;
}

async function estimate(
  body: string,
  changes: Partial<Target> = {},
  { labels, reuse = NO_REUSE }: Asked = {},
): Promise<SubmissionEstimate> {
  const queues = new QueueEstimates(test.database, new AccountQueueStore(), new WorkerStore());
  const checks = new SubmissionChecks({ resolveForJob: () => Promise.resolve(new Set()) }, noModels, queues, settings);
  const quota = { usedBytes: () => Promise.resolve(usedBytes) };
  const { database } = test;
  const ledger = new LedgerStore();
  const estimates = new SubmissionEstimates(
    database,
    examiner,
    checks,
    runTimes,
    queues,
    ledger,
    quota,
    reuse,
    settings,
  );
  const caller: Caller = {
    accountId,
    apiKeyId: null,
    scopes: new Set(),
    labels: null,
    accountStatus: 'active',
    limits: LIMITS,
  };
  const target = {
    poolId,
    catalogue,
    catalogueDigest: 'test',
    queueLimit: null,
    priceMicrosPerSecond: PRICE,
    ...changes,
  };
  return estimates.estimate({
    caller,
    scope: { ...cloudScope(accountId), labels: labels ?? null },
    body: Buffer.from(body),
    target: () => Promise.resolve(target),
  });
}

/** The work key of what `bodyOf(steps)` submits. */
async function keyOf(steps: number, owner = accountId): Promise<bigint> {
  const target = (): Promise<Target> =>
    Promise.resolve({ poolId, catalogue, catalogueDigest: 'test', queueLimit: null, priceMicrosPerSecond: PRICE });
  const { job } = await examiner.examine(Buffer.from(bodyOf(steps, 9)), target);
  return workKeyOf(owner, poolId, job.work);
}

/** Jobs of the key that have run for so long. */
async function ran(workKey: bigint, times: readonly number[], owner = accountId): Promise<void> {
  for (const engineMs of times) {
    const draft = await world.submit({ accountId: owner, poolId, workKey, holdMicros: 0n, priceMicrosPerSecond: 0n });
    const fence = await world.start({ poolId });
    await world.claimedSecondsAgo(draft.id ?? '', 3_600);
    await world.end(fence, endingOf('succeeded', { engineMs }));
  }
}

describe('an estimate of a submission', () => {
  it('to a deployment that is not ready is refused as the submission, and says what it comes to all the same', async () => {
    await ran(await keyOf(4), [1_000]);
    const notReady = new Refusal('deployment_not_ready', 'This deployment is starting.', { retryAfterSeconds: 5 });
    const { refusal, terms, times, costMicros } = await estimate(bodyOf(4), { notReady });
    expect(refusal).toBe(notReady);
    expect(terms).toMatchObject({ priceMicrosPerSecond: PRICE });
    expect(times).toMatchObject({ runs: 1, p50Ms: 1_000 });
    expect(costMicros).toEqual({ p50: PRICE, p90: PRICE });
    expect(await estimate(bodyOf('many'), { notReady })).toMatchObject({ refusal: notReady, times: null });
    // What is wrong with a body counts before where it is sent, however large it is.
    const large = `${bodyOf(4).slice(0, -1)},"pad":"${'x'.repeat(40_000)}","metadata":{"a":1}}`;
    expect((await estimate(large, { notReady })).refusal?.code).toBe('metadata_invalid');
  });

  it('says what is held, and knows no times before the first run', async () => {
    const { refusal, terms, times, costMicros, place } = await estimate(bodyOf(4));
    expect({ refusal, times, costMicros }).toEqual({ refusal: null, times: null, costMicros: null });
    expect(terms).toMatchObject({ priceMicrosPerSecond: PRICE, holdMicros: holdMicrosOf(settings, PRICE) });
    expect(place).toMatchObject({ position: 1 });
  });

  it('expects the times and costs of earlier jobs of the account that asked for the same work', async () => {
    await ran(await keyOf(4), [1_000, 2_000, 3_000, 4_000, 10_000]);
    await ran(await keyOf(8), [60_000]);
    const { times, costMicros } = await estimate(bodyOf(4));
    expect(times).toEqual({ runs: 5, p50Ms: 3_000, p90Ms: 10_000 });
    expect(costMicros).toEqual({ p50: 6_000n, p90: 20_000n });
  });

  it('knows nothing of the jobs of other accounts, nor of those that failed', async () => {
    const other = await makeAccount(test.database);
    await ran(await keyOf(4, other), [1_000], other);
    await world.submit({ accountId, poolId, workKey: await keyOf(4) });
    await world.end(await world.start({ poolId }), endingOf('node_failed'));
    expect((await estimate(bodyOf(4))).times).toBeNull();
  });

  it('records nothing', async () => {
    await estimate(bodyOf(4));
    const { job, accountQueue } = test.database.models;
    expect(await job.count({ where: { accountId } })).toBe(0);
    expect(await accountQueue.count({ where: { accountId } })).toBe(0);
    expect(await new LedgerStore().balance(test.database, accountId)).toMatchObject({ heldMicros: 0n });
  });

  it('counts the jobs of the account that wait before it', async () => {
    for (let n = 0; n < 2; n += 1) await world.submit({ accountId, poolId });
    expect((await estimate(bodyOf(4))).place).toMatchObject({ position: 3 });
  });
});

describe('an estimate of a submission that would be refused', () => {
  const codeOf = async (body: string, changes: Partial<Target> = {}): Promise<string | undefined> =>
    (await estimate(body, changes)).refusal?.code;

  it('names every fault of the graph, and still the terms', async () => {
    const { refusal, terms, place } = await estimate(bodyOf('many'));
    expect(refusal).toMatchObject({
      code: 'invalid_workflow',
      details: { node_errors: { '1': [{ field: 'steps' }] } },
    });
    expect(terms).not.toBeNull();
    expect(place).toBeNull();
  });

  it('goes by the rules of its labels, as the submission itself does', async () => {
    const rules = composeLabelRules(test.database);
    const none = {
      maxJobs: null,
      dailyMicros: null,
      monthlyMicros: null,
      retentionSeconds: null,
      dailyAtCap: null,
      monthlyAtCap: null,
    };
    const labelled = bodyOf(4).replace(/}$/, ',"metadata":{"user":"ada"}}');
    const hold = holdMicrosOf(settings, PRICE);
    const refusalFor = async (value: string | null, limits: object): Promise<unknown> => {
      await rules.put(test.database, accountId, { label: 'user', value, ...none, ...limits });
      const { refusal } = await estimate(labelled);
      return refusal && [refusal.code, refusal.details];
    };
    const details = { label: 'user', value: 'ada' };
    expect(await refusalFor(null, { maxJobs: 0 })).toEqual(['label_limit', { ...details, limit: 'max_jobs', most: 0 }]);
    // The rule of the value goes before that of every value.
    expect(await refusalFor('ada', { maxJobs: 1, dailyMicros: hold, monthlyMicros: hold })).toBeNull();
    expect(await refusalFor('ada', { dailyMicros: hold - 1n })).toMatchObject([
      'label_spend_limit',
      { limit: 'daily_micros' },
    ]);
    expect(await refusalFor('ada', { monthlyMicros: hold - 1n })).toMatchObject([
      'label_spend_limit',
      { limit: 'monthly_micros' },
    ]);
    await rules.put(test.database, accountId, { label: 'user', value: 'ada', ...none, maxJobs: 1 });
    await world.submit({ accountId, poolId, metadata: { user: 'ada' } });
    expect((await estimate(labelled)).refusal?.code).toBe('label_limit');
    expect((await estimate(bodyOf(4))).refusal).toBeNull();
    // Both are short: a submission finds the credits first.
    const dear = await estimate(labelled, { priceMicrosPerSecond: 10n ** 9n });
    expect(dear.refusal?.code).toBe('insufficient_credits');
  });

  it('refuses labels that are not those of the sub-key before anything else that a submission finds after them', async () => {
    const otherwise = bodyOf(4).replace(/}$/, ',"metadata":{"user":"ada"}}');
    const labels = { user: 'bob' };
    const faults = async (changes: Partial<Target>, reuse?: typeof NO_REUSE): Promise<unknown> => {
      const { refusal, reuse: reused } = await estimate(otherwise, changes, { labels, reuse });
      return [refusal?.code, refusal?.details, reused];
    };
    const fields = [{ field: 'metadata.user', reason: expect.stringContaining('"bob"') as string }];
    expect(await faults({ queueLimit: 0 })).toEqual(['metadata_invalid', { fields }, null]);
    const source = { id: randomUUID(), reusedFrom: null };
    const search = jest.fn(() =>
      Promise.resolve({ key: null, source, outcome: { reusedFrom: source.id, reason: null } }),
    );
    const found = { ...NO_REUSE, isWanted: () => Promise.resolve(true), search };
    expect(await faults({}, found)).toEqual(['metadata_invalid', { fields }, null]);
    expect(search).not.toHaveBeenCalled();
    const { refusal, reuse } = await estimate(bodyOf(4), { queueLimit: 0 }, { labels, reuse: found });
    expect([refusal, reuse?.reusedFrom]).toEqual([null, source.id]);
  });

  it('names what is missing, full or used up', async () => {
    const asset = JSON.stringify({ __type: 'core/ASSET', info: { id: randomUUID() } });
    const withAsset = `{"workflow":{"1":{"class_type":"Show","inputs":{"image":${asset}}}}}`;
    expect(await codeOf(withAsset)).toBe('missing_asset');
    expect(await codeOf(bodyOf(4), { queueLimit: 0 })).toBe('queue_full');
    expect(await codeOf(bodyOf(4), { priceMicrosPerSecond: 10n ** 9n })).toBe('insufficient_credits');
    usedBytes = settings.storageBytesPerAccount;
    expect(await codeOf(bodyOf(4))).toBe('storage_full');
    usedBytes = 0;
    for (let n = 0; n < settings.queueLimitPerAccount; n += 1) await world.submit({ accountId, poolId });
    expect(await codeOf(bodyOf(4))).toBe('queue_full');
  });

  it('keeps the times where only credits are missing', async () => {
    await ran(await keyOf(4), [5_000]);
    const { refusal, times } = await estimate(bodyOf(4), { priceMicrosPerSecond: 10n ** 9n });
    expect(refusal?.code).toBe('insufficient_credits');
    expect(times).toMatchObject({ runs: 1, p50Ms: 5_000 });
  });

  it('is not made of a body that was not examined', async () => {
    const busy = new Refusal('rate_limited', 'too many', { retryAfterSeconds: 2 });
    jest.spyOn(examiner, 'examine').mockRejectedValueOnce(busy);
    await expect(estimate(bodyOf(4))).rejects.toBe(busy);
  });
});

it('the run times of a kind of job are found by their key, however many jobs there are', async () => {
  await world.queueMany(poolId, await makeAccount(test.database), 5_000);
  await test.database.transaction(async (tx) => {
    // A graph is kept verbatim: only so can a test change its row.
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`UPDATE job_graphs SET work_key = ('x' || left(job_id::text, 8))::bit(32)::int8`);
  });
  await test.database.execute(Prisma.sql`ANALYZE job_graphs`);
  const explain = Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${runTimes.findSql(7n, null)}`;
  const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(explain);
  const root = row?.['QUERY PLAN'][0]?.Plan;
  const indexes = root === undefined ? [] : nodesOf(root).map((node) => node['Index Name']);
  expect(indexes).toContain('job_graphs_work_key_job_id_idx');
  expect(indexes).toContain('jobs_pkey');
});
