import { randomBytes } from 'node:crypto';
import { Prisma } from '@prisma/client';
import pg from 'pg';
import { newId } from '@millrace/contracts';
import { readSettings } from '@millrace/platform';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld, endingOf } from '../fixtures/job-world';
import { jobSettings } from '../job.settings';
import { endJob } from '../lifecycle/end.store';
import { GroupStore } from '../submission/group.store';

let test: TestDatabase;
let accountId: string;
let world: JobWorld;
/** A session of our own, which holds locks while a statement waits for them. */
let holder: pg.Client;
/** One that looks which locks that statement has. */
let looker: pg.Client;
beforeAll(async () => {
  test = await createTestDatabase();
  [holder, looker] = [new pg.Client({ connectionString: test.url }), new pg.Client({ connectionString: test.url })];
  await Promise.all([holder.connect(), looker.connect()]);
  accountId = await makeAccount(test.database, { micros: 10_000_000n });
  const { poolId } = await makePool(test.database);
  world = new JobWorld(test, { accountId, poolId });
  await world.submit();
});
afterAll(async () => {
  await Promise.all([holder.end(), looker.end()]);
  await test.drop();
});

/** Longer than the test. */
const NEVER_MS = 600_000;
const QUEUE = 'SELECT FROM account_queues WHERE account_id = $1 FOR UPDATE';
const BALANCE = 'SELECT FROM balances WHERE account_id = $1 FOR UPDATE';

/** True when nobody else has the row locked. */
async function isFree(row: string): Promise<boolean> {
  return looker.query(`${row} NOWAIT`, [accountId]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof pg.DatabaseError && error.code === '55P03') return false;
      throw error;
    },
  );
}

const isWaiting = async (): Promise<boolean> => {
  const { rows } = await looker.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
};

describe('a submission of a large graph', () => {
  const GRAPH_BYTES = 2_000_000;
  const size = async (): Promise<number> => {
    const { rows } = await looker.query<{ size: string }>(`SELECT pg_total_relation_size('job_graphs') AS size`);
    return Number(rows[0]?.size);
  };

  it('writes it before it takes a lock that others wait for', async () => {
    const before = await size();
    await holder.query('BEGIN');
    await holder.query(QUEUE, [accountId]);
    // In hexadecimal: what is compressed is half as large.
    const done = world.submit({ workflow: JSON.stringify({ '1': randomBytes(GRAPH_BYTES / 2).toString('hex') }) });
    try {
      await eventually('the statement to wait', isWaiting);
      expect((await size()) - before).toBeGreaterThan(GRAPH_BYTES / 2);
    } finally {
      await holder.query('ROLLBACK');
      await done;
    }
  });

  it('that credits do not cover writes none of it', async () => {
    const poor = await makeAccount(test.database, { micros: 0n });
    const workflow = JSON.stringify({ '1': randomBytes(GRAPH_BYTES / 2).toString('hex') });
    const before = await size();
    await expect(world.submit({ accountId: poor, workflow })).rejects.toMatchObject({ reason: 'insufficient_credits' });
    expect((await size()) - before).toBeLessThan(GRAPH_BYTES / 4);
  });
});

describe('a submission that finds room and credits, and waits for a lock', () => {
  it.each([
    ['the place', 'queue_full', 'UPDATE account_queues SET waiting = 2 WHERE account_id = $1'],
    [
      'the credits',
      'insufficient_credits',
      'UPDATE balances SET held_micros = held_micros + available_micros, available_micros = 0 WHERE account_id = $1',
    ],
  ])('is refused when another one takes %s meanwhile', async (_what, reason, take) => {
    const first = await world.submit({ accountId: await makeAccount(test.database, { micros: 1_000_000n }) });
    await holder.query('BEGIN');
    await holder.query(take, [first.accountId]);
    const refused = expect(world.submit({ accountId: first.accountId, queueLimit: 2 })).rejects.toMatchObject({
      reason,
    });
    try {
      await eventually('the statement to wait', isWaiting);
    } finally {
      await holder.query('COMMIT');
    }
    await refused;
    expect(await test.database.models.job.count({ where: { accountId: first.accountId } })).toBe(1);
  });
});

describe('a heartbeat of a job that a cap counts', () => {
  const LABEL_USE = 'SELECT FROM label_use WHERE account_id = $1 FOR UPDATE';
  const claim = async () => {
    const capped = await makeAccount(test.database, { micros: 10_000_000n });
    const { poolId } = await makePool(test.database);
    await test.database.execute(Prisma.sql`
      INSERT INTO label_rules (id, account_id, label, value, daily_micros, daily_at_cap)
      VALUES (${newId()}::uuid, ${capped}::uuid, '@account', '', 1000000, 'stop')`);
    const jobs = new JobWorld(test, { accountId: capped, poolId });
    const run = await jobs.start(await jobs.submit({ holdMicros: 60_000n, priceMicrosPerSecond: 1_000n }));
    await jobs.claimedSecondsAgo(run.jobId, 3_600);
    await holder.query('BEGIN');
    await holder.query(LABEL_USE, [capped]);
    return (engineMs: number) =>
      test.database.transaction(async (tx) => {
        await tx.execute(Prisma.sql`SET LOCAL lock_timeout = 100`);
        return jobs.beat(run, engineMs, tx);
      });
  };
  afterEach(() => holder.query('ROLLBACK'));

  it('waits for no other job of the account while its hold is ample', async () => {
    const beat = await claim();
    expect(await beat(49_000)).toMatchObject({ exhausted: false });
  });

  it('waits for its turn where the hold is to be extended, or is used up', async () => {
    const beat = await claim();
    await expect(beat(50_001)).rejects.toThrow('lock timeout');
    await expect(beat(60_000)).rejects.toThrow('lock timeout');
  });
});

describe('a statement that locks both the queue and the balance of an account', () => {
  it.each<[string, () => Promise<() => Promise<unknown>>]>([
    ['records a submission', () => Promise.resolve(() => world.submit({ idempotencyKey: newId() }))],
    [
      'records a group of submissions',
      async () => {
        const drafts = [await world.draft({ idempotencyKey: newId() }), await world.draft({ idempotencyKey: newId() })];
        const groups = new GroupStore(readSettings(jobSettings, {}));
        return () => groups.record(test.database, drafts, NEVER_MS);
      },
    ],
    [
      'ends a run',
      async () => {
        const run = await world.start(await world.submit());
        return () => world.end(run);
      },
    ],
    [
      'ends a job that waits',
      async () => {
        const job = await world.submit();
        const guard = { kind: 'queued', scope: job, jobId: job.id } as const;
        return () => endJob(test.database, guard, endingOf('canceled_while_queued'));
      },
    ],
  ])('and %s takes the queue first, so that no two of them wait for each other', async (_, prepare) => {
    const work = await prepare();
    await holder.query('BEGIN');
    await holder.query(QUEUE, [accountId]);
    const done = work();
    try {
      await eventually('the statement to wait', isWaiting);
      expect(await isFree(BALANCE)).toBe(true);
    } finally {
      await holder.query('ROLLBACK');
      await done;
    }
  });
});
