import { randomUUID } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld, endingOf } from '../fixtures/job-world';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { findAttempts } from '../follow/job-attempt.store';
import { findStanding } from '../follow/job-standing.store';
import { JobStore } from '../follow/job.store';
import { withLastOutput } from '../outputs/last-output.store';
import { OutputStore } from '../outputs/output.store';
import type { JobScope } from '../state';
import { requestCancel } from './cancel.store';
import { claimAttempt } from './claim.store';
import { listLostJobs } from './due-jobs.store';
import { endJob } from './end.store';
import { handBackAttempt, takeBackAttempt } from './release.store';
import { attemptsUsedUp } from './job-ending';
import { retryJob } from './retry.store';
import { renewLease } from './renew.store';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** The parts of a statement's plan that read one of the tables. */
async function readingsOf(database: Database, sql: Prisma.Sql, tables: readonly string[]): Promise<PlanNode[]> {
  const [row] = await database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(Prisma.sql`EXPLAIN (FORMAT JSON) ${sql}`);
  return (row?.['QUERY PLAN'] ?? [])
    .flatMap(({ Plan }) => nodesOf(Plan))
    .filter((node) => tables.includes(node['Relation Name'] ?? '') && node['Node Type'] !== 'ModifyTable');
}

/** The first statement that work sends. */
async function firstOf(work: (statements: Statements) => Promise<unknown>): Promise<Prisma.Sql> {
  const sent: Prisma.Sql[] = [];
  const query = (sql: Prisma.Sql): Promise<never[]> => {
    sent.push(sql);
    return Promise.resolve([]);
  };
  await work({ query, rows: query, execute: () => Promise.resolve(0), models: test.database.models });
  const [sql] = sent;
  if (sql === undefined) throw new Error('it has no statement');
  return sql;
}

describe('a statement about one job', () => {
  const fence = { jobId: newId(), attempt: 1, leaseToken: randomUUID() };
  const lost = { kind: 'lost_for_good', jobId: fence.jobId } as const;
  const beat = {
    progress: null,
    engineMs: 0,
    leaseSeconds: 10,
    attemptLimitSeconds: 604_800,
    holdExtensionSeconds: 60,
  };
  const blob = { accountId: newId(), hash: 'blake3:0', bornAt: new Date() };
  const asset = { id: newId(), blob, contentType: 'text/plain', name: 'a.txt' };
  const output = { nodeId: '1', nodeIndex: 0, ordinal: 0, type: 'text', asset } as const;
  const withOutput = withLastOutput(output, { maxOutputsPerJob: 100 });
  const scope: JobScope = { accountId: newId(), surface: 'cloud', deploymentId: null, labels: null };
  const deployment: JobScope = { ...scope, surface: 'deployment', deploymentId: newId(), labels: { user: 'ada' } };
  const jobs = new JobStore();
  const uses: [string, (statements: Statements) => Promise<unknown>][] = [
    ['a claim', (to) => claimAttempt(to, { ...fence, workerId: newId(), leaseSeconds: 10 })],
    [
      'a claim by a worker among others',
      (to) => claimAttempt(to, { ...fence, attempt: 2, workerId: newId(), leaseSeconds: 10 }),
    ],
    ['a heartbeat', (to) => renewLease(to, fence, beat)],
    ['an output', (to) => new OutputStore({ maxOutputsPerJob: 100 }).record(to, fence, output)],
    ['the end', (to) => endJob(to, { kind: 'fence', fence }, endingOf('succeeded'))],
    ['the end with the last output', (to) => endJob(to, { kind: 'fence', fence }, endingOf('succeeded'), withOutput)],
    ['the end of a lost one', (to) => endJob(to, lost, endingOf('attempts_used_up'))],
    ['a retry', (to) => retryJob(to, { kind: 'fence', fence }, endingOf('node_failed'))],
    ['a retry of a lost one', (to) => retryJob(to, lost, attemptsUsedUp)],
    ['handing it back', (to) => handBackAttempt(to, fence)],
    ['taking it back', (to) => takeBackAttempt(to, fence.jobId)],
    [
      'a cancel before its start',
      (to) => endJob(to, { kind: 'queued', scope, jobId: fence.jobId }, endingOf('canceled_while_queued')),
    ],
    ['a cancel', (to) => requestCancel(to, deployment, fence.jobId)],
    ['a poll', (to) => jobs.findAsked(to, [{ scope, id: fence.jobId, withLogs: true }])],
    [
      'polls of several',
      (to) =>
        jobs.findAsked(
          to,
          [scope, deployment].map((each) => ({ scope: each, id: newId(), withLogs: true })),
        ),
    ],
    ['a poll whether there is news', (to) => jobs.factsAsked(to, [{ scope, id: fence.jobId, withLogs: true }])],
    ['a stream', (to) => jobs.findSince(to, scope, fence.jobId, 1)],
    ['a webhook', (to) => jobs.findEach(to, [{ accountId: scope.accountId, jobId: fence.jobId }])],
    ['its graph', (to) => jobs.workflow(to, scope, fence.jobId)],
    ['its times', (to) => jobs.nodeTimings(to, deployment, fence.jobId)],
    ['its attempts', (to) => findAttempts(to, scope, fence.jobId)],
    ['its standing', (to) => findStanding(to, scope, fence.jobId)],
  ];

  async function expectKeys(database: Database, use: (statements: Statements) => Promise<unknown>): Promise<void> {
    const readings = await readingsOf(database, await firstOf(use), ['jobs', 'assets']);
    const tables = readings.map((reading) => reading['Relation Name'] ?? '');
    expect(tables).toContain('jobs');
    expect(readings.map((reading) => reading['Index Name'])).toEqual(tables.map((table) => `${table}_pkey`));
  }

  describe('with statistics of a moment at which nothing was in flight', () => {
    beforeAll(async () => {
      const { poolId } = await makePool(test.database);
      await new JobWorld(test).queueMany(poolId, await makeAccount(test.database), 5_000);
      await test.database.execute(Prisma.sql`ANALYZE jobs`);
    });

    it.each(uses)('finds it by its id: %s', (_what, use) => expectKeys(test.database, use));
  });

  // A connection keeps the plan that it made while the tables were small, until autovacuum has looked at them: a minute of a rush.
  describe('planned while there was no other', () => {
    let young: TestDatabase;
    beforeAll(async () => {
      young = await createTestDatabase();
    });
    afterAll(() => young.drop());

    it.each(uses)('finds it by its id: %s', (_what, use) => expectKeys(young.database, use));
  });
});

// A renewal is a heap-only update because no index has when a lease runs out: what looks for lost jobs must not read all others for it.
it('finds jobs whose lease has run out among those in flight, past all that wait', async () => {
  const list = (to: Statements): Promise<unknown> => listLostJobs(to, null, 100);
  const readings = await readingsOf(test.database, await firstOf(list), ['jobs']);
  expect(readings.map((node) => node['Index Name'])).toEqual(['jobs_in_flight_idx']);
});
