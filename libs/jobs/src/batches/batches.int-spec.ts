import { Prisma } from '@prisma/client';
import type { Caller } from '@millrace/accounts';
import { LedgerStore } from '@millrace/billing';
import { NO_SUBMISSION_DEFAULTS, newId } from '@millrace/contracts';
import type { Target } from '@millrace/deployments';
import { Metrics, readSettings } from '@millrace/platform';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { cloudScope } from '../fixtures/job-world';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { jobSettings } from '../job.settings';
import { Lifecycle } from '../lifecycle';
import { AccountQueueStore } from '../rotation';
import { GroupStore, type ExaminedItem } from '../submission';
import { BatchStore } from './batch.store';
import { BatchSubmissions, type BatchSubmission } from './batch-submissions.service';
import { CancelBatchesLoop } from './cancel-batches.loop';
import { SweepExpiredBatchesLoop } from './sweep-expired-batches.loop';

const settings = {
  ...readSettings(jobSettings, {}),
  queueLimitPerAccount: 10_000,
  priceMicrosPerSecond: 1_000,
  holdMicros: 60_000,
  holdExtensionSeconds: 60,
  storageBytesPerAccount: 1_000_000_000,
};
const HOLD_MICROS = 60_000n;
/** More than one statement records. */
const JOBS = 300;

let test: TestDatabase;
let accountId: string;
let target: Target;
let metrics: Metrics;
beforeAll(async () => {
  test = await createTestDatabase();
  metrics = new Metrics('test');
});
beforeEach(async () => {
  accountId = await makeAccount(test.database, { micros: HOLD_MICROS * 1_000n });
  const { poolId } = await makePool(test.database);
  target = { poolId, catalogue: {}, queueLimit: null, priceMicrosPerSecond: 1_000n };
});
afterAll(() => test.drop());

const store = new BatchStore();
const items = (count: number): ExaminedItem[] =>
  Array.from({ length: count }, (_, index) => {
    const graph = JSON.stringify({ index });
    const assets = { named: [], malformed: [], malformedCount: 0 };
    return { index, graph, graphBytes: graph.length, nodeCount: 1, metadata: {}, models: [], work: 'w', assets };
  });

/** Submissions whose bodies were examined: a body is the number of its jobs. */
function submissions(groups: Pick<GroupStore, 'record'> = new GroupStore(settings)): BatchSubmissions {
  return new BatchSubmissions(
    test.database,
    store,
    groups,
    new LedgerStore(),
    new AccountQueueStore(),
    { ownedAssets: async () => Promise.resolve(new Set()), assertRoom: async () => Promise.resolve() },
    {
      examineBatch: async (body, _, take) => {
        const count = Number(Buffer.from(body).toString());
        take(
          { items: items(count), faults: [], faultCount: 0, next: count },
          { admission: 'all', count, template: null },
        );
        return Promise.resolve();
      },
    },
    { expectDispatch: () => undefined, requestDispatch: () => undefined },
    { of: () => Promise.resolve(NO_SUBMISSION_DEFAULTS) },
    metrics,
    settings,
  );
}

function submission(count: number, idempotencyKey?: string): BatchSubmission {
  const caller = { accountId, apiKeyId: null, limits: { weight: 1 }, retentionSeconds: null } as unknown as Caller;
  const body = Buffer.from(String(count));
  const find = async (): Promise<Target> => Promise.resolve(target);
  const terms = { traceparent: null, spendLimitMicros: null };
  return { caller, scope: cloudScope(accountId), body, target: find, idempotencyKey, ...terms };
}

/** What there is of the account. */
async function left(): Promise<Record<string, number>> {
  const [row] = await test.database.query<Record<string, number>>(Prisma.sql`
    SELECT (SELECT count(*)::int FROM batches WHERE account_id = ${accountId}::uuid) AS batches,
      (SELECT count(*)::int FROM jobs WHERE account_id = ${accountId}::uuid) AS jobs,
      (SELECT count(*)::int FROM ledger_transactions WHERE account_id = ${accountId}::uuid AND kind = 'hold') AS holds,
      (SELECT coalesce(sum(waiting), 0)::int FROM account_queues WHERE account_id = ${accountId}::uuid) AS waiting,
      (SELECT (held_micros / ${HOLD_MICROS})::int FROM balances WHERE account_id = ${accountId}::uuid) AS held`);
  return row ?? {};
}

function lifecycle(): Lifecycle {
  const events = { moved: () => undefined } as unknown as ConstructorParameters<typeof Lifecycle>[1];
  return new Lifecycle(test.database, events, () => undefined, metrics, settings);
}

it('a batch is recorded with all its jobs, holds and places', async () => {
  const { batch, isRepeat } = await submissions().submit(submission(JOBS));
  expect([isRepeat, batch.jobCount, batch.counts, batch.ended]).toEqual([false, JOBS, { queued: JOBS }, 0]);
  expect(await left()).toEqual({ batches: 1, jobs: JOBS, holds: JOBS, waiting: JOBS, held: JOBS });
});

it('nothing is left of a batch whose recording breaks off', async () => {
  const groups = new GroupStore(settings);
  let calls = 0;
  const breaking: Pick<GroupStore, 'record'> = {
    record: async (...args) => {
      calls += 1;
      if (calls === 2) throw new Error('the process dies here');
      return groups.record(...args);
    },
  };
  await expect(submissions(breaking).submit(submission(JOBS, 'a-key'))).rejects.toThrow('the process dies here');
  expect(await left()).toEqual({ batches: 0, jobs: 0, holds: 0, waiting: 0, held: 0 });
  expect((await submissions().submit(submission(JOBS, 'a-key'))).isRepeat).toBe(false);
});

it('of batches that arrive at once in several processes as many are recorded as the credits cover, each whole', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => submissions().submit(submission(JOBS))));
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  expect(refused).toEqual([expect.objectContaining({ code: 'insufficient_credits' })]);
  expect(await left()).toEqual({ batches: 3, jobs: 3 * JOBS, holds: 3 * JOBS, waiting: 3 * JOBS, held: 3 * JOBS });
});

it('of requests with one key in several processes one makes the batch, and all are answered with it', async () => {
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => submissions().submit(submission(JOBS, 'the-same'))),
  );
  expect(answers.filter(({ isRepeat }) => !isRepeat)).toHaveLength(1);
  expect(new Set(answers.map(({ batch }) => batch.id)).size).toBe(1);
  expect(await left()).toMatchObject({ batches: 1, jobs: JOBS });
});

it('the loop cancels what a request did not get to, and ends', async () => {
  const { batch } = await submissions().submit(submission(JOBS));
  const scope = cloudScope(accountId);
  expect(await store.requestCancel(test.database, scope, batch.id)).toBe(true);
  const loop = new CancelBatchesLoop(test.database, lifecycle());
  while ((await loop.runOnce()) > 0);
  const canceled = await store.find(test.database, scope, batch.id);
  expect(canceled).toMatchObject({ counts: { canceled: JOBS }, ended: JOBS, chargedMicros: 0 });
  expect(canceled?.completedAt).not.toBeNull();
  expect(await left()).toMatchObject({ waiting: 0, held: 0 });
  const { canceling } = await test.database.models.batch.findUniqueOrThrow({ where: { id: batch.id } });
  expect(canceling).toBe(false);
});

it('a batch past its retention is not found, and is deleted after its jobs', async () => {
  const { batch } = await submissions().submit(submission(2));
  await test.database.execute(
    Prisma.sql`UPDATE batches SET expires_at = now() - interval '1 s' WHERE id = ${batch.id}::uuid`,
  );
  const loop = new SweepExpiredBatchesLoop(test.database);
  await loop.runOnce();
  expect(await left()).toMatchObject({ batches: 1 });
  expect(await store.find(test.database, cloudScope(accountId), batch.id)).toBeNull();
  await test.database.execute(Prisma.sql`DELETE FROM jobs WHERE batch_id = ${batch.id}::uuid`);
  await loop.runOnce();
  expect(await left()).toMatchObject({ batches: 0 });
});

it('the counts of a batch are read by its index', async () => {
  await submissions().submit(submission(JOBS));
  await test.database.execute(Prisma.sql`ANALYZE jobs`);
  const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    Prisma.sql`EXPLAIN (FORMAT JSON) ${store.findSql(cloudScope(accountId), newId())}`,
  );
  const plan = row?.['QUERY PLAN'][0]?.Plan;
  const reads = (plan === undefined ? [] : nodesOf(plan)).flatMap((node) => node['Index Name'] ?? []);
  expect(reads.filter((index) => index.startsWith('jobs'))).toEqual(['jobs_batch_key']);
});
