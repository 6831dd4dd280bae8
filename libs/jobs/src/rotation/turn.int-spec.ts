import { randomUUID } from 'node:crypto';
import { Prisma } from '@prisma/client';
import pg from 'pg';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import type { DispatchMarks } from '../dispatch/watermark-cache';
import { DispatchStore, type DispatchedJob } from './turn.store';
import { LifecycleStore, guards } from '../lifecycle/lifecycle.store';

const dispatch = new DispatchStore();
const lifecycle = new LifecycleStore();

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** Queue `count` jobs of an account at once: what thousands of submissions leave behind, in a second. */
async function queue(poolId: string, accountId: string, count: number): Promise<void> {
  await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`
      INSERT INTO account_queues (pool_id, account_id, waiting, running_limit, pass)
      SELECT id, ${accountId}::uuid, ${count}, 1000, virtual_time FROM pools WHERE id = ${poolId}`);
    await tx.execute(Prisma.sql`
      WITH job AS (
        INSERT INTO jobs (id, account_id, pool_id, surface, max_attempts, deadline_at, expires_at)
        SELECT gen_random_uuid(), ${accountId}::uuid, ${poolId}, 'cloud', 3, now() + interval '1 h', now() + interval '1 h'
        FROM generate_series(1, ${count}) RETURNING id
      ), graph AS (INSERT INTO job_graphs (job_id, workflow, node_count) SELECT id, '{}', 1 FROM job)
      INSERT INTO job_transitions (job_id, seq, to_status, attempt, cause) SELECT id, 1, 'queued', 0, 'submitted' FROM job`);
  });
}

async function accountOf({ jobId }: DispatchedJob): Promise<string> {
  return (await test.database.models.job.findUniqueOrThrow({ where: { id: jobId } })).accountId;
}

/** A worker takes the attempt and ends it. */
async function runThrough({ jobId, attempt }: DispatchedJob): Promise<void> {
  const worker = { workerId: newId(), leaseToken: randomUUID(), leaseSeconds: 10 };
  const claimed = await lifecycle.claim(test.database, { jobId, attempt, ...worker });
  if (claimed === null) throw new Error('the attempt was not there to be claimed');
  const nothing = { failure: null, engineMs: 0, progress: null, nodes: null, log: null };
  await lifecycle.end(test.database, guards.fence(claimed), {
    ...nothing,
    status: 'succeeded',
    outcome: 'succeeded',
    cause: 'test',
  });
}

/** Jain, Chiu, Hawe (1984): 1 when everyone has the same, 1/n when one has it all. */
function jain(shares: number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  return sum ** 2 / (shares.length * shares.reduce((total, share) => total + share ** 2, 0));
}

describe('an account that queues ten thousand jobs', () => {
  it('delays the first starts of four small accounts to their turn at most, and takes no more than its share', async () => {
    const room = 4;
    const { poolId } = await makePool(test.database);
    const heavy = await makeAccount(test.database);
    await queue(poolId, heavy, 10_000);
    const lane: DispatchedJob[] = [];
    const fill = async (): Promise<void> => {
      for (;;) {
        const next = await dispatch.dispatchNext(test.database, poolId, room);
        if (next === null) return;
        lane.push(next);
      }
    };
    // The lane is full of its jobs when the others come.
    await fill();
    const small = await Promise.all(Array.from({ length: 4 }, () => makeAccount(test.database)));
    for (const accountId of small) await queue(poolId, accountId, 10);
    const starts: string[] = [];
    while (starts.length < room + 50) {
      const next = lane.shift();
      if (next === undefined) throw new Error('the lane ran dry');
      starts.push(await accountOf(next));
      await runThrough(next);
      await fill();
    }
    const everyone = [heavy, ...small];
    for (const accountId of small) expect(starts.indexOf(accountId)).toBeLessThan(room + everyone.length);
    const contested = starts.slice(room);
    const shares = everyone.map((accountId) => contested.filter((other) => other === accountId).length);
    expect(jain(shares)).toBeGreaterThanOrEqual(0.98);
  }, 120_000);
});

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Try something in a transaction that is then undone. */
async function tried<T>(attempt: (tx: Statements) => Promise<T>): Promise<T> {
  const undone = new Error('undone');
  const results: T[] = [];
  await test.database
    .transaction(async (tx) => {
      results.push(await attempt(tx));
      throw undone;
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  const [result] = results;
  if (result === undefined) throw new Error('nothing was tried');
  return result;
}

/** What choosing the next job reads, by index; and what it scans whole. */
async function readsOf(poolId: string): Promise<{ reads: Record<string, number>; scanned: string[] }> {
  const nodes = await tried(async (tx) => {
    const [row] = await tx.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${dispatch.nextSql(poolId, 100)}`,
    );
    return row?.['QUERY PLAN'].flatMap(({ Plan }) => nodesOf(Plan)) ?? [];
  });
  const reads: Record<string, number> = {};
  for (const node of nodes) {
    const index = node['Index Name'];
    if (index === undefined) continue;
    const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
    reads[index] = (reads[index] ?? 0) + rows;
  }
  const whole = nodes.filter((node) => node['Node Type'] === 'Seq Scan');
  return { reads, scanned: whole.flatMap((node) => node['Relation Name'] ?? []) };
}

describe('choosing the next job', () => {
  // Of the few accounts there are here the planner may read an index or all: only jobs are many.
  const ofJobs = (reads: Record<string, number>): Record<string, number> =>
    Object.fromEntries(Object.entries(reads).filter(([index]) => index.startsWith('jobs_')));

  it('reads the same jobs by the same indexes with a thousand jobs queued and with a hundred thousand', async () => {
    const { poolId } = await makePool(test.database);
    await queue(poolId, await makeAccount(test.database), 1_000);
    await test.database.execute(Prisma.sql`ANALYZE jobs`);
    await test.database.execute(Prisma.sql`ANALYZE account_queues`);
    const few = await readsOf(poolId);
    for (let n = 0; n < 11; n += 1) await queue(poolId, await makeAccount(test.database), 9_000);
    await test.database.execute(Prisma.sql`ANALYZE jobs`);
    const many = await readsOf(poolId);
    expect(ofJobs(many.reads)).toEqual(ofJobs(few.reads));
    expect(many.reads).toHaveProperty('jobs_waiting_idx');
    expect(many.scanned).not.toContain('jobs');
    expect(few.scanned).not.toContain('jobs');
    expect(Object.values(many.reads).reduce((sum, rows) => sum + rows, 0)).toBeLessThan(10);
  }, 120_000);
});

describe('choosing the next job from the marks of an earlier reading', () => {
  /** Entries that the statement meets in the indexes of the rotation and of what is in flight, dead ones too. */
  const entriesMet = (poolId: string, marks: DispatchMarks | null): Promise<number> =>
    tried(async (tx) => {
      const met = async (): Promise<number> => {
        const [row] = await tx.query<{ met: number }>(Prisma.sql`
          SELECT (pg_stat_get_xact_tuples_returned('jobs_in_flight_idx'::regclass)
            + pg_stat_get_xact_tuples_returned('account_queues_eligible_idx'::regclass))::int AS met`);
        return row?.met ?? NaN;
      };
      const before = await met();
      expect((await dispatch.dispatchFrom(tx, poolId, 100, marks)).job).not.toBeNull();
      return (await met()) - before;
    });
  const marksNow = async (poolId: string): Promise<DispatchMarks> => {
    const { job, found } = await dispatch.dispatchFrom(test.database, poolId, 100, null);
    if (job === null || found === null) throw new Error('there was nothing to be dispatched');
    await runThrough(job);
    return found;
  };

  it('passes over what died before them and is kept by an open transaction', async () => {
    const LIVES = 150;
    const { poolId } = await makePool(test.database);
    for (let n = 0; n < 30; n += 1) await queue(poolId, await makeAccount(test.database), 10);
    const console = new pg.Client({ connectionString: test.url });
    await console.connect();
    try {
      await console.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await console.query('SELECT FROM jobs LIMIT 1');
      for (let n = 0; n < LIVES; n += 1) await marksNow(poolId);
      const marks = await marksNow(poolId);
      expect(await entriesMet(poolId, null)).toBeGreaterThan(2 * LIVES);
      expect(await entriesMet(poolId, marks)).toBeLessThan(10);
    } finally {
      await console.end();
    }
  }, 60_000);

  it('takes no more than there is room for: the oldest in flight is where the count begins', async () => {
    const { poolId } = await makePool(test.database);
    await queue(poolId, await makeAccount(test.database), 5);
    await dispatch.dispatchNext(test.database, poolId, 5);
    const { found } = await dispatch.dispatchFrom(test.database, poolId, 5, null);
    for (const room of [1, 2]) {
      const full = { job: null, inFlight: 2, found: null };
      expect(await dispatch.dispatchFrom(test.database, poolId, room, found)).toEqual(full);
    }
    expect((await dispatch.dispatchFrom(test.database, poolId, 3, found)).job).not.toBeNull();
  });

  it('still serves an account behind the mark, when there is none after it', async () => {
    const { poolId } = await makePool(test.database);
    const behind = await makeAccount(test.database);
    const after = await makeAccount(test.database);
    for (const accountId of [behind, after]) await queue(poolId, accountId, 1);
    await test.database.execute(
      Prisma.sql`UPDATE account_queues SET pass = 9 WHERE pool_id = ${poolId} AND account_id = ${after}::uuid`,
    );
    const marks = { pass: 5n, inFlightSince: new Date(0) };
    const served = [];
    for (let n = 0; n < 2; n += 1) {
      const { job } = await dispatch.dispatchFrom(test.database, poolId, 100, marks);
      served.push(job === null ? null : await accountOf(job));
    }
    expect(served).toEqual([after, behind]);
    expect(await dispatch.dispatchFrom(test.database, poolId, 100, marks)).toEqual({
      job: null,
      inFlight: 2,
      found: null,
    });
  });
});

describe('a statement that moves one job', () => {
  const fence = { jobId: newId(), attempt: 1, leaseToken: randomUUID() };
  const ending = { cause: 'test', failure: null, engineMs: 0, progress: null, nodes: null, log: null };
  const beat = { progress: null, engineMs: 0, leaseSeconds: 10, holdExtensionSeconds: 60 };
  const moves: [string, (statements: Statements) => Promise<unknown>][] = [
    ['a claim', (to) => lifecycle.claim(to, { ...fence, workerId: newId(), leaseSeconds: 10 })],
    ['a heartbeat', (to) => lifecycle.heartbeat(to, fence, beat)],
    ['the end', (to) => lifecycle.end(to, guards.fence(fence), { ...ending, status: 'failed', outcome: 'failed' })],
    [
      'the end of a lost one',
      (to) => lifecycle.end(to, guards.lost(fence.jobId), { ...ending, status: 'failed', outcome: 'failed' }),
    ],
    ['handing it back', (to) => lifecycle.handBack(to, fence)],
    ['taking it back', (to) => lifecycle.takeBack(to, fence.jobId)],
  ];

  beforeAll(async () => {
    const { poolId } = await makePool(test.database);
    await queue(poolId, await makeAccount(test.database), 5_000);
    // Whatever was analyzed while nothing was in flight.
    await test.database.execute(Prisma.sql`ANALYZE jobs`);
  });

  it.each(moves)('finds it by its id: %s', async (_what, move) => {
    const heard: Prisma.Sql[] = [];
    const query = (sql: Prisma.Sql): Promise<never[]> => {
      heard.push(sql);
      return Promise.resolve([]);
    };
    await move({ query, rows: query, execute: () => Promise.resolve(0), models: test.database.models });
    const [sql] = heard;
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
