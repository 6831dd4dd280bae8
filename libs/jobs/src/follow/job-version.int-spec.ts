import { Prisma } from '@prisma/client';
import { newId, type Progress } from '@millrace/contracts';
import { WorkerStore } from '@millrace/deployments';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { OutputJobs } from '../fixtures/output-jobs';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { RetiredPoolStore } from '../retired/retired-pool.store';
import { AccountQueueStore } from '../rotation/account-queue.store';
import { QueueEstimates } from '../rotation/queue-estimates';
import type { ClaimedAttempt, JobScope } from '../state/job';
import { JobPolls } from './job-polls.service';
import { JobReads } from './job-reads.service';
import { JobStore } from './job.store';
import type { JobVersion } from './job-version';
import { QueueEndsStore } from './queue-ends.store';
import { QueueRanks } from './queue-ranks';

let test: TestDatabase;
let made: OutputJobs;
let scope: JobScope;
/** What the streams of every job show. */
let shown: Progress | null = null;
beforeAll(async () => {
  test = await createTestDatabase();
  made = await OutputJobs.make(test);
  ({ scope } = made.jobs);
});
afterAll(async () => {
  await made.drop();
  await test.drop();
});

/** On a process that has cached nothing. */
function polls(): JobPolls {
  const estimates = new QueueEstimates(test.database, new AccountQueueStore(), new WorkerStore());
  const ranks = new QueueRanks(test.database, new QueueEndsStore());
  const live = { progress: (ids: readonly string[]) => Promise.resolve(ids.map(() => shown)) };
  return new JobPolls(new JobReads(test.database, new JobStore(), estimates, ranks, live), live);
}

async function keepLog(jobId: string, text: string): Promise<void> {
  await test.database.execute(Prisma.sql`
    INSERT INTO job_logs (job_id, text, truncated, complete, captured_at) VALUES (${jobId}::uuid, ${text}, false, false, now())
    ON CONFLICT (job_id) DO UPDATE SET text = ${text}, captured_at = now() + interval '1 s'`);
}

async function claimed(): Promise<ClaimedAttempt> {
  const attempt = await made.jobs.start();
  if (attempt === null) throw new Error('nothing was claimed');
  return attempt;
}

it('the version of a job is another whenever a poll shows something else, and is read alone as it is read with the job', async () => {
  const { poolId: otherPool } = await makePool(test.database);
  for (const poolId of [otherPool, made.jobs.poolId]) {
    await test.database.models.deployment.create({
      data: { id: newId(), accountId: made.jobs.accountId, name: 'a version', poolId },
    });
  }
  const first = await made.jobs.submit(0n, 0n);
  const id = (await made.jobs.submit(0n, 0n)) ?? '';
  const versions: JobVersion[] = [];
  const moveTo = async (toPoolId: string): Promise<void> => {
    const [{ poolId } = { poolId: '' }] = await test.database.models.job.findMany({ where: { id } });
    await test.database.transaction((tx) => new RetiredPoolStore(0n).move(tx, { poolId, toPoolId }, 1));
  };
  const look = async (): Promise<JobVersion> => {
    const { version } = await polls().read(scope, id, { withLogs: true });
    expect(await polls().version(scope, id, { withLogs: true })).toEqual(version);
    return version;
  };
  const changes: [string, () => Promise<unknown>][] = [
    ['it is submitted', () => Promise.resolve()],
    ['the one before it is canceled', () => made.jobs.cancelQueued(first ?? '')],
    ['it moves to the pool of another version of its deployment', () => moveTo(otherPool)],
    ['it moves back', () => moveTo(made.jobs.poolId)],
    ['it starts', async () => (attempt = await claimed())],
    ['its worker publishes progress', async () => void (shown = { value: 0.5, nodes_done: 1, nodes_total: 2 })],
    ['an output lands', () => made.record(attempt, 'an output')],
    ['another does', () => made.record(attempt, 'another', 1)],
    ['one is replaced', () => made.record(attempt, 'a better one', 1)],
    ['it ends', () => made.jobs.end(attempt, 0, 'succeeded')],
    ['its log is reported', () => keepLog(id, 'some')],
    ['its log is reported once more', () => keepLog(id, 'some more')],
  ];
  let attempt = {} as ClaimedAttempt;
  for (const [change, make] of changes) {
    await make();
    const version = await look();
    // Back where it was it shows again what it showed there.
    const others = change === 'it moves back' ? versions.slice(-1) : versions;
    for (const earlier of others) expect([change, version]).not.toEqual([change, earlier]);
    expect(await look()).toEqual(version);
    versions.push(version);
  }
});

it('nothing is read for a version but single rows by the keys of the job', async () => {
  const id = (await made.jobs.submit(0n, 0n)) ?? '';
  await made.jobs.world.queueMany(made.jobs.poolId, await makeAccount(test.database), 5_000);
  await test.database.execute(Prisma.sql`ANALYZE jobs`);
  const sql = new JobStore().factsAskedSql([{ scope, id, withLogs: true }]);
  const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
  );
  const nodes = (row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => nodesOf(Plan));
  const named = nodes.filter((node) => node['Relation Name'] !== undefined);
  expect(named.map((node) => node['Relation Name']).sort()).toEqual(['job_logs', 'job_outputs', 'jobs', 'jobs']);
  // Of a job that ran itself nothing is looked up by which a sub-key would be shown its source.
  const jobs = named.filter((node) => node['Relation Name'] === 'jobs' && node['Actual Loops'] > 0);
  expect(jobs.map((node) => [node['Index Name'], node['Actual Rows']])).toEqual([['jobs_pkey', 1]]);
});
