import { randomUUID } from 'node:crypto';
import { Prisma } from '@prisma/client';
import pg from 'pg';
import { newId } from '@millrace/contracts';
import { besideTransaction, isLockTimeout, type Statements } from '@millrace/database';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { claimAttempt } from '../lifecycle/claim.store';
import { handBackAttempt } from '../lifecycle/release.store';
import type { ClaimedAttempt } from '../state/job';
import { AccountQueueStore } from './account-queue.store';
import { ONE_TURN, STRIDE, TurnStore, type DispatchedJob, type Watermarks } from './turn.store';

const turns = new TurnStore();

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

/** A turn in the pool, if its lane has room. */
async function take(
  poolId: string,
  room: number,
  statements: Statements = test.database,
): Promise<DispatchedJob | null> {
  return (await turns.take(statements, poolId, room, ONE_TURN))[0].job;
}

async function accountOf({ jobId }: DispatchedJob): Promise<string> {
  return (await test.database.models.job.findUniqueOrThrow({ where: { id: jobId } })).accountId;
}

/** A worker takes the attempt and ends it. */
async function runThrough(dispatched: DispatchedJob): Promise<void> {
  const claimed = await world.claim(dispatched);
  if (claimed === null) throw new Error('the attempt was not there to be claimed');
  await world.end(claimed);
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
    await world.queueMany(poolId, heavy, 10_000);
    const lane: DispatchedJob[] = [];
    const fill = async (): Promise<void> => {
      for (;;) {
        const next = await take(poolId, room);
        if (next === null) return;
        lane.push(next);
      }
    };
    // The lane is full of its jobs when the others come.
    await fill();
    const small = await Promise.all(Array.from({ length: 4 }, () => makeAccount(test.database)));
    for (const accountId of small) await world.queueMany(poolId, accountId, 10);
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
  });
});

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

/** The indexes of jobs, and `jobs` itself where it is scanned whole. */
type Reads = Record<string, number>;

/** Index entries and rows of jobs that a statement of `most` turns meets. A function's plans are not shown by EXPLAIN. */
function readsOf(poolId: string, most: number): Promise<Reads> {
  return tried(async (tx) => {
    const met = async (): Promise<Reads> => {
      const rows = await tx.query<{ name: string; met: number }>(Prisma.sql`
        SELECT c.relname AS name, pg_stat_get_xact_tuples_returned(c.oid)::int AS met FROM pg_class c
        WHERE c.oid = 'jobs'::regclass OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'jobs'::regclass)`);
      return Object.fromEntries(rows.map(({ name, met }) => [name, met]));
    };
    const before = await met();
    const taken = await turns.take(tx, poolId, 100, { ...ONE_TURN, most });
    expect(taken.map(({ job }) => job)).not.toContain(null);
    const after = Object.entries(await met()).map(([name, met]) => [name, met - (before[name] ?? 0)] as const);
    return Object.fromEntries(after.filter(([, met]) => met > 0));
  });
}

describe('what turns read', () => {
  it('is the same jobs by the same indexes with a thousand jobs queued and with a hundred thousand', async () => {
    const { poolId } = await makePool(test.database);
    await world.queueMany(poolId, await makeAccount(test.database), 1_000);
    await test.database.execute(Prisma.sql`ANALYZE jobs`);
    await test.database.execute(Prisma.sql`ANALYZE account_queues`);
    const few = await readsOf(poolId, 1);
    // Another pool: what was undone is dead in the indexes of the first.
    const large = await makePool(test.database);
    for (let n = 0; n < 11; n += 1) await world.queueMany(large.poolId, await makeAccount(test.database), 9_000);
    await test.database.execute(Prisma.sql`ANALYZE jobs`);
    const many = await readsOf(large.poolId, 1);
    expect(many).toEqual(few);
    expect(many).toHaveProperty('jobs_waiting_idx');
    expect(many).not.toHaveProperty('jobs');
    expect(Object.values(many).reduce((sum, rows) => sum + rows, 0)).toBeLessThan(10);
    const wide = await readsOf(large.poolId, 20);
    expect(wide).not.toHaveProperty('jobs');
    expect(Object.values(wide).reduce((sum, rows) => sum + rows, 0)).toBeLessThan(20 * 10);
  });
});

describe('an account that ran as many jobs as it may', () => {
  it.each<[string, (held: ClaimedAttempt[], accountId: string) => Promise<unknown>]>([
    ['when they end', (held) => Promise.all(held.map((claimed) => world.end(claimed)))],
    ['when they wait again', (held) => Promise.all(held.map((claimed) => handBackAttempt(test.database, claimed)))],
    [
      'when its limit is raised',
      (_, accountId) => new AccountQueueStore().setTerms(test.database, accountId, { weight: 1, runningLimit: 1_000 }),
    ],
    [
      'when its jobs end and it submits another',
      async (held, accountId) => {
        const [{ poolId }] = held as [ClaimedAttempt];
        await world.submit({ poolId, accountId, holdMicros: 0n, queueLimit: 1_000 });
        await Promise.all(held.map((claimed) => world.end(claimed)));
      },
    ],
  ])('has its share of the turns from then on, and no more: %s', async (_, comeBack) => {
    const LIMIT = 30;
    const { poolId } = await makePool(test.database);
    const limited = await makeAccount(test.database);
    for (let n = 0; n < 9; n += 1) await world.queueMany(poolId, await makeAccount(test.database), 60);
    await world.queueMany(poolId, limited, 200);
    await new AccountQueueStore().setTerms(test.database, limited, { weight: 1, runningLimit: LIMIT });
    const turnsOfLimited = async (count: number): Promise<DispatchedJob[]> => {
      const taken: DispatchedJob[] = [];
      for (let n = 0; n < count; n += 1) {
        const job = await take(poolId, 10_000);
        if (job !== null && (await accountOf(job)) === limited) taken.push(job);
      }
      return taken;
    };
    const first = await turnsOfLimited(LIMIT * 10);
    expect(first).toHaveLength(LIMIT);
    const held = await Promise.all(first.map((job) => world.claim(job)));
    expect(await turnsOfLimited(100)).toEqual([]);
    await comeBack(
      held.filter((claimed) => claimed !== null),
      limited,
    );
    const next = await turnsOfLimited(50);
    expect(next.length).toBeGreaterThanOrEqual(4);
    expect(next.length).toBeLessThanOrEqual(6);
  });
});

describe('an account that had nothing waiting', () => {
  it('has its share of the turns when it comes back, and none for the time without jobs', async () => {
    const { poolId } = await makePool(test.database);
    const [idle, busy] = [await makeAccount(test.database), await makeAccount(test.database)];
    const submit = async (count: number): Promise<void> => {
      const free = { poolId, holdMicros: 0n, queueLimit: 1_000, runningLimit: 1_000 };
      for (let n = 0; n < count; n += 1) await world.submit({ ...free, accountId: idle });
    };
    const turnsOfIdle = async (count: number): Promise<number> => {
      let turnsTaken = 0;
      for (let n = 0; n < count; n += 1) {
        const job = await take(poolId, 10_000);
        if (job !== null && (await accountOf(job)) === idle) turnsTaken += 1;
      }
      return turnsTaken;
    };
    await submit(1);
    expect(await turnsOfIdle(1)).toBe(1);
    await world.queueMany(poolId, busy, 100);
    expect(await turnsOfIdle(40)).toBe(0);
    await submit(20);
    const next = await turnsOfIdle(10);
    expect(next).toBeGreaterThanOrEqual(4);
    expect(next).toBeLessThanOrEqual(6);
  });
});

describe('an account that another statement has locked', () => {
  /** A pool whose first turn is of an account that is locked until the test says otherwise, and its second of another. */
  async function lockedFirst(): Promise<{ poolId: string; locked: string; other: string; free: () => Promise<void> }> {
    const { poolId } = await makePool(test.database);
    const [locked, other] = [await makeAccount(test.database), await makeAccount(test.database)];
    for (const accountId of [locked, other]) await world.queueMany(poolId, accountId, 3);
    await test.database.execute(
      Prisma.sql`UPDATE account_queues SET pass = 9 WHERE pool_id = ${poolId} AND account_id = ${other}::uuid`,
    );
    const holder = new pg.Client({ connectionString: test.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM account_queues WHERE pool_id = $1 AND account_id = $2 FOR UPDATE', [
      poolId,
      locked,
    ]);
    return { poolId, locked, other, free: () => holder.end() };
  }

  it.each([null, { pass: 0n, inFlightSince: new Date(0) }])(
    'is skipped, and has its turn next: from %j',
    async (watermarks) => {
      const { poolId, locked, other, free } = await lockedFirst();
      const terms = { ...ONE_TURN, watermarks };
      try {
        const [turn] = await turns.take(test.database, poolId, 100, terms);
        // What is skipped stays in front of the next reading.
        expect(turn).toMatchObject({ skipped: true, found: { pass: 0n } });
        expect(turn.job && (await accountOf(turn.job))).toBe(other);
      } finally {
        await free();
      }
      const [next] = await turns.take(test.database, poolId, 100, terms);
      expect(next).toMatchObject({ skipped: false });
      expect(next.job && (await accountOf(next.job))).toBe(locked);
    },
  );

  it('is waited for no longer than was asked, where it is', async () => {
    const { poolId, free } = await lockedFirst();
    const terms = { ...ONE_TURN, waitMs: 20 };
    try {
      const error: unknown = await turns.take(test.database, poolId, 100, terms).catch((thrown: unknown) => thrown);
      expect(isLockTimeout(error)).toBe(true);
    } finally {
      await free();
    }
    expect(await turns.take(test.database, poolId, 100, terms)).toMatchObject([{ skipped: false }]);
  });

  it('and is the only one is no end of the dispatching: its turn is reported as skipped', async () => {
    const { poolId, other, free } = await lockedFirst();
    await test.database.execute(
      Prisma.sql`UPDATE account_queues SET running_limit = 0 WHERE pool_id = ${poolId} AND account_id = ${other}::uuid`,
    );
    expect(await turns.take(test.database, poolId, 100, ONE_TURN)).toMatchObject([{ job: null, skipped: true }]);
    await free();
  });
});

describe('a turn from the watermarks of an earlier one', () => {
  /** Entries that the statement meets in the indexes of the rotation and of what is in flight, dead ones too. */
  const entriesMet = (poolId: string, watermarks: Watermarks | null): Promise<number> =>
    tried(async (tx) => {
      const met = async (): Promise<number> => {
        const [row] = await tx.query<{ met: number }>(Prisma.sql`
          SELECT (pg_stat_get_xact_tuples_returned('jobs_in_flight_idx'::regclass)
            + pg_stat_get_xact_tuples_returned('account_turns_pkey'::regclass))::int AS met`);
        return row?.met ?? NaN;
      };
      const before = await met();
      expect((await turns.take(tx, poolId, 100, { ...ONE_TURN, watermarks }))[0].job).not.toBeNull();
      return (await met()) - before;
    });
  const watermarksNow = async (poolId: string): Promise<Watermarks> => {
    const [{ job, found }] = await turns.take(test.database, poolId, 100, ONE_TURN);
    if (job === null || found === null) throw new Error('there was nothing to be dispatched');
    await runThrough(job);
    return found;
  };

  it('passes over what died before them and is kept by an open transaction', async () => {
    const LIVES = 150;
    const { poolId } = await makePool(test.database);
    for (let n = 0; n < 30; n += 1) await world.queueMany(poolId, await makeAccount(test.database), 10);
    const console = new pg.Client({ connectionString: test.url });
    await console.connect();
    try {
      await console.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await console.query('SELECT FROM jobs LIMIT 1');
      for (let n = 0; n < LIVES; n += 1) await watermarksNow(poolId);
      const watermarks = await watermarksNow(poolId);
      expect(await entriesMet(poolId, null)).toBeGreaterThan(2 * LIVES);
      expect(await entriesMet(poolId, watermarks)).toBeLessThan(10);
    } finally {
      await console.end();
    }
  });

  it('takes no more than there is room for: the oldest in flight is where the count begins', async () => {
    const { poolId } = await makePool(test.database);
    await world.queueMany(poolId, await makeAccount(test.database), 5);
    await take(poolId, 5);
    const [{ found }] = await turns.take(test.database, poolId, 5, ONE_TURN);
    for (const room of [1, 2]) {
      const full = { job: null, inFlight: 2, found: null, skipped: false };
      expect(await turns.take(test.database, poolId, room, { ...ONE_TURN, watermarks: found })).toEqual([full]);
    }
    expect((await turns.take(test.database, poolId, 3, { ...ONE_TURN, watermarks: found }))[0].job).not.toBeNull();
  });

  it('leaves an account behind the watermark to a turn from the start', async () => {
    const { poolId } = await makePool(test.database);
    const behind = await makeAccount(test.database);
    const after = await makeAccount(test.database);
    for (const accountId of [behind, after]) await world.queueMany(poolId, accountId, 1);
    await test.database.execute(
      Prisma.sql`UPDATE account_queues SET pass = 9 WHERE pool_id = ${poolId} AND account_id = ${after}::uuid`,
    );
    const served = [];
    for (const pass of [5n, 5n, null]) {
      const watermarks = pass === null ? null : { pass, inFlightSince: new Date(0) };
      const [{ job }] = await turns.take(test.database, poolId, 100, { ...ONE_TURN, watermarks });
      served.push(job === null ? null : await accountOf(job));
    }
    expect(served).toEqual([after, null, behind]);
  });

  it('finds virtual time where nobody waits, which is where the next to come joins', async () => {
    const { poolId } = await makePool(test.database);
    await world.queueMany(poolId, await makeAccount(test.database), 2);
    for (let n = 0; n < 2; n += 1) await take(poolId, 100);
    const [{ job, found }] = await turns.take(test.database, poolId, 100, ONE_TURN);
    expect({ job, pass: found?.pass }).toEqual({ job: null, pass: BigInt(STRIDE) });
    await world.queueMany(poolId, await makeAccount(test.database), 1);
    const [next] = await turns.take(test.database, poolId, 100, { ...ONE_TURN, watermarks: found });
    expect(next.job).not.toBeNull();
  });
});

describe('a turn', () => {
  it('takes turns between accounts, in any order of arrival and for any number of jobs', async () => {
    const { poolId } = await makePool(test.database);
    const heavy = await makeAccount(test.database);
    const light = await makeAccount(test.database);
    const free = { priceMicrosPerSecond: 0n, holdMicros: 0n, poolId, queueLimit: 1_000, runningLimit: 100 };
    for (let i = 0; i < 20; i += 1) await world.submit({ ...free, accountId: heavy });
    for (let i = 0; i < 3; i += 1) await world.submit({ ...free, accountId: light });
    const order: string[] = [];
    for (let i = 0; i < 8; i += 1) {
      const next = await take(poolId, 100);
      const row = await test.database.models.job.findUniqueOrThrow({ where: { id: next?.jobId } });
      order.push(row.accountId === heavy ? 'heavy' : 'light');
    }
    expect(order.filter((who) => who === 'light')).toHaveLength(3);
    expect(order.slice(0, 6).filter((who) => who === 'light')).toHaveLength(3);
  });

  it("takes an account's jobs by priority, then by age, and gives no account more turns for it", async () => {
    const { poolId } = await makePool(test.database, 10);
    const urgent = await makeAccount(test.database);
    const other = await makeAccount(test.database);
    const free = { poolId, priceMicrosPerSecond: 0n, holdMicros: 0n };
    const [first, second, third] = [
      await world.submit({ ...free, accountId: urgent }),
      await world.submit({ ...free, accountId: urgent }),
      await world.submit({ ...free, accountId: urgent }),
    ];
    const theirs = [
      await world.submit({ ...free, accountId: other }),
      await world.submit({ ...free, accountId: other }),
    ];
    await test.database.models.job.updateMany({ where: { id: { in: [second.id, third.id] } }, data: { priority: 5 } });
    const order: string[] = [];
    for (let n = 0; n < 5; n += 1) order.push((await take(poolId, 10))?.jobId ?? '');
    expect(order.filter((id) => [first.id, second.id, third.id].includes(id))).toEqual([second.id, third.id, first.id]);
    expect(order.slice(0, 4).filter((id) => theirs.some((job) => job.id === id))).toHaveLength(2);
  });

  it('gives an account of weight 3 three turns to one', async () => {
    const { poolId } = await makePool(test.database);
    const triple = await makeAccount(test.database);
    const single = await makeAccount(test.database);
    const free = { priceMicrosPerSecond: 0n, holdMicros: 0n, poolId, queueLimit: 1_000, runningLimit: 100 };
    for (let i = 0; i < 12; i += 1) {
      await world.submit({ ...free, accountId: triple, weight: 3 });
      await world.submit({ ...free, accountId: single });
    }
    let tripleTurns = 0;
    for (let i = 0; i < 12; i += 1) {
      const next = await take(poolId, 100);
      const row = await test.database.models.job.findUniqueOrThrow({ where: { id: next?.jobId } });
      if (row.accountId === triple) tripleTurns += 1;
    }
    expect(tripleTurns).toBe(9);
  });

  it('never fills more than the room there is, however many processes dispatch at once', async () => {
    const { poolId } = await makePool(test.database);
    const free = { priceMicrosPerSecond: 0n, holdMicros: 0n, poolId, queueLimit: 1_000, runningLimit: 100 };
    const accountId = await makeAccount(test.database);
    for (let i = 0; i < 12; i += 1) await world.submit({ ...free, accountId });
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(Array.from({ length: 8 }, () => take(poolId, 3)));
    }
    expect(await test.database.models.job.count({ where: { poolId, delivery: 'dispatched' } })).toBe(3);
  });

  it('leaves a pool to the process that dispatches for it, without waiting', async () => {
    const { poolId } = await makePool(test.database);
    const free = { priceMicrosPerSecond: 0n, holdMicros: 0n, poolId };
    await world.submit(free);
    await world.submit(free);
    const answers: (DispatchedJob | null)[] = [];
    await test.database.transaction(async (tx) => {
      answers.push(await take(poolId, 1, tx));
      void besideTransaction(() => take(poolId, 1)).then((answer) => answers.push(answer));
      await eventually('the other has answered, or waits', async () => {
        const isWaiting = Prisma.sql`
          SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        const waiting = await besideTransaction(() => test.database.query(isWaiting));
        return answers.length > 1 || waiting.length > 0;
      });
    });
    expect(answers).toEqual([expect.objectContaining({ attempt: 1 }), null]);
  });

  it('stops at the room there is, and at what an account may run', async () => {
    const { poolId } = await makePool(test.database);
    const free = { priceMicrosPerSecond: 0n, holdMicros: 0n, poolId };
    const limited = await makeAccount(test.database);
    for (let i = 0; i < 4; i += 1) await world.submit({ ...free, accountId: limited, runningLimit: 2 });
    let count = 0;
    while ((await take(poolId, 10)) !== null) count += 1;
    expect(count).toBe(2);
    await world.submit(free);
    expect(await take(poolId, 2)).toBeNull();
    expect(await take(poolId, 3)).not.toBeNull();
  });
});

describe('a turn that a crash of PostgreSQL undoes', () => {
  it('leaves a message that finds nothing to claim, and its job has another turn', async () => {
    const { poolId } = await makePool(test.database);
    await world.queueMany(poolId, await makeAccount(test.database), 1);
    let undone: DispatchedJob | null = null;
    const crash = test.database.transaction(async (tx) => {
      undone = await take(poolId, 1, tx);
      throw new Error('crashed');
    });
    await expect(crash).rejects.toThrow('crashed');
    if (undone === null) throw new Error('no turn was given');
    expect(await world.claim(undone)).toBeNull();
    const again = await take(poolId, 1);
    expect(again).toEqual(undone);
    expect(again && (await world.claim(again))).not.toBeNull();
  });

  it('may be undone: its commit does not wait for the disk, while that of a claim does', async () => {
    const { poolId } = await makePool(test.database);
    await world.queueMany(poolId, await makeAccount(test.database), 1);
    const waitsAfter = (act: (tx: Statements) => Promise<unknown>): Promise<unknown> =>
      test.database.transaction(async (tx) => {
        await tx.execute(Prisma.sql`SET LOCAL synchronous_commit = on`);
        await act(tx);
        return (await tx.rows(Prisma.sql`SELECT current_setting('synchronous_commit') AS waits`))[0];
      });
    let turn: DispatchedJob | null = null;
    expect(await waitsAfter(async (tx) => (turn = await take(poolId, 1, tx)))).toEqual({ waits: 'off' });
    const { jobId, attempt } = turn ?? { jobId: '', attempt: 0 };
    const worker = { workerId: newId(), leaseToken: randomUUID(), leaseSeconds: 10 };
    expect(await waitsAfter((tx) => claimAttempt(tx, { jobId, attempt, ...worker }))).toEqual({ waits: 'on' });
  });
});
