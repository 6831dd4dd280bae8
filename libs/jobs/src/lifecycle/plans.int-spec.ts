import { randomUUID } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld, endingOf } from '../fixtures/job-world';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { withLastOutput } from '../outputs/last-output.store';
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

describe('a statement that moves one job', () => {
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
  const moves: [string, (statements: Statements) => Promise<unknown>][] = [
    ['a claim', (to) => claimAttempt(to, { ...fence, workerId: newId(), leaseSeconds: 10 })],
    [
      'a claim by a worker among others',
      (to) => claimAttempt(to, { ...fence, attempt: 2, workerId: newId(), leaseSeconds: 10 }),
    ],
    ['a heartbeat', (to) => renewLease(to, fence, beat)],
    ['the end', (to) => endJob(to, { kind: 'fence', fence }, endingOf('succeeded'))],
    ['the end with the last output', (to) => endJob(to, { kind: 'fence', fence }, endingOf('succeeded'), withOutput)],
    ['the end of a lost one', (to) => endJob(to, lost, endingOf('attempts_used_up'))],
    ['a retry', (to) => retryJob(to, { kind: 'fence', fence }, endingOf('node_failed'))],
    ['a retry of a lost one', (to) => retryJob(to, lost, attemptsUsedUp)],
    ['handing it back', (to) => handBackAttempt(to, fence)],
    ['taking it back', (to) => takeBackAttempt(to, fence.jobId)],
  ];

  beforeAll(async () => {
    const { poolId } = await makePool(test.database);
    await new JobWorld(test).queueMany(poolId, await makeAccount(test.database), 5_000);
    // Statistics of a moment at which nothing was in flight.
    await test.database.execute(Prisma.sql`ANALYZE jobs`);
  });

  it.each(moves)('finds it by its id: %s', async (_what, move) => {
    const sent: Prisma.Sql[] = [];
    const query = (sql: Prisma.Sql): Promise<never[]> => {
      sent.push(sql);
      return Promise.resolve([]);
    };
    await move({ query, rows: query, execute: () => Promise.resolve(0), models: test.database.models });
    const [sql] = sent;
    if (sql === undefined) throw new Error('it has no statement');
    const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      Prisma.sql`EXPLAIN (FORMAT JSON) ${sql}`,
    );
    const readings = (row?.['QUERY PLAN'] ?? [])
      .flatMap(({ Plan }) => nodesOf(Plan))
      .filter((node) => node['Relation Name'] === 'jobs' && node['Node Type'] !== 'ModifyTable');
    expect(readings.length).toBeGreaterThan(0);
    for (const reading of readings) expect(reading['Index Name']).toBe('jobs_pkey');
  });
});

// A renewal is a heap-only update because no index has when a lease runs out: what looks for lost jobs must not read all others for it.
it('finds jobs whose lease has run out among those in flight, past all that wait', async () => {
  const sent: Prisma.Sql[] = [];
  const rows = (sql: Prisma.Sql): Promise<never[]> => {
    sent.push(sql);
    return Promise.resolve([]);
  };
  await listLostJobs({ query: rows, rows, execute: () => Promise.resolve(0), models: test.database.models }, null, 100);
  const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    Prisma.sql`EXPLAIN (FORMAT JSON) ${sent[0]}`,
  );
  const readings = (row?.['QUERY PLAN'] ?? [])
    .flatMap(({ Plan }) => nodesOf(Plan))
    .filter((node) => node['Relation Name'] === 'jobs');
  expect(readings.map((node) => node['Index Name'])).toEqual(['jobs_in_flight_idx']);
});
