import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { Prisma } from '@prisma/client';
import pg from 'pg';
import { AccountErasureStore, AccountStore } from '@millrace/accounts';
import { newId } from '@millrace/contracts';
import { createTestDatabase, eventually, testBilling, onOneDay, type TestDatabase } from '@millrace/testing';
import { JobAudit } from '../audit';
import type { SubmittedBatch } from '../batches/batch-submissions.service';
import { BatchWorld } from '../fixtures/batch-world';
import { JobWorld, cloudScope, endingOf } from '../fixtures/job-world';
import { RecountFreshCapsLoop, SpendCapStore, NOTHING_SUMMED, composeSpendCaps } from '../spend';
import { endJob } from '../lifecycle/end.store';

/** More than one group of them. */
const JOBS = 200;

let test: TestDatabase;
let world: BatchWorld;
let jobs: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(() => onOneDay());
afterAll(() => test.drop());
beforeEach(async () => {
  await openWorld();
  await putCap();
});

async function openWorld(): Promise<void> {
  world = await BatchWorld.open(test);
  const { accountId, poolId } = world;
  jobs = new JobWorld(test, { accountId, poolId, queueLimit: 10_000 });
}

async function putCap(): Promise<void> {
  await test.database.transaction((tx) =>
    composeSpendCaps(test.database).put(
      tx,
      world.accountId,
      {
        ...{ scope: 'account', keyId: null, dailyMicros: 1_000_000_000n, monthlyMicros: null },
        ...{ dailyAtCap: 'stop', monthlyAtCap: 'stop' },
      },
      NOTHING_SUMMED,
    ),
  );
}

/** Submit a batch, and do `work` on connections of its own once the first of its jobs are written. */
async function during(work: () => Promise<void>): Promise<SubmittedBatch> {
  const beside = AsyncLocalStorage.snapshot();
  let begun = false;
  const writing = world.writing(async (...args) => {
    const written = await world.jobs.write(...args);
    if (!begun) {
      begun = true;
      await beside(work);
    }
    return written;
  });
  return world.submissions(writing).submit(world.submission(JOBS));
}

async function findings(): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const finding of new JobAudit(test.database).findings()) found.push(finding);
  for await (const finding of testBilling(test.database).audit.findings()) found.push(finding);
  return found;
}

describe('while a batch is recorded', () => {
  it('other jobs of its account are submitted, dispatched, extended, ended and canceled', async () => {
    const { accountId, poolId } = world;
    await jobs.submit();
    const running = await jobs.start({ poolId });
    await jobs.claimedSecondsAgo(running.jobId, 3_600);
    const { batch } = await during(async () => {
      const [first, second] = [await jobs.submit(), await jobs.submit()];
      const started = await jobs.start({ poolId });
      expect(started.jobId).toBe(first.id);
      expect(await jobs.beat(running, 70_000)).toMatchObject({ exhausted: false });
      expect(await jobs.end(running, endingOf('succeeded', { engineMs: 71_000 }))).not.toBeNull();
      const queued = { kind: 'queued', scope: cloudScope(accountId), jobId: second.id } as const;
      expect(await endJob(test.database, queued, endingOf('canceled_while_queued'))).not.toBeNull();
    });
    expect(batch).toMatchObject({ jobCount: JOBS, refused: [] });
    expect(await jobs.queueOf(world)).toEqual({ waiting: JOBS, inFlight: 1 });
    const [use] = await test.database.models.labelUse.findMany({ where: { accountId } });
    expect(use).toMatchObject({ label: '@account', live: JOBS + 1 });
    expect(await findings()).toEqual([]);
  });

  it('its account can be locked against changes, as by who revokes a key', async () => {
    const { accountId } = world;
    await during(async () => {
      expect(await test.database.transaction((tx) => new AccountStore().lock(tx, accountId))).toBe(true);
    });
  });
});

describe('the first cap of an account, set while a batch is recorded', () => {
  it('counts its jobs, also those that end before a loop finds them', async () => {
    await openWorld();
    const { accountId, poolId } = world;
    await during(putCap);
    const end = async (engineMs: number): Promise<void> => {
      const started = await jobs.start({ poolId });
      await jobs.claimedSecondsAgo(started.jobId, 60);
      await jobs.end(started, endingOf('succeeded', { engineMs }));
    };
    await end(2_000);
    const loop = new RecountFreshCapsLoop(test.database, new SpendCapStore());
    const counted = async (): Promise<unknown> => test.database.models.labelUse.findMany({ where: { accountId } });
    await loop.runOnce();
    expect(await counted()).toMatchObject([
      { label: '@account', live: JOBS - 1, dayMicros: 2_000n, monthMicros: 2_000n },
    ]);
    await end(3_000);
    await loop.runOnce();
    expect(await counted()).toMatchObject([
      { label: '@account', live: JOBS - 2, dayMicros: 5_000n, monthMicros: 5_000n },
    ]);
    expect(await findings()).toEqual([]);
  });
});

describe('a batch is refused whole', () => {
  it('when its queue filled up while it was recorded', async () => {
    const { accountId } = world;
    const outcome = during(async () => {
      await test.database.models.accountQueue.updateMany({ where: { accountId }, data: { waiting: 9_950 } });
    });
    await expect(outcome).rejects.toMatchObject({ code: 'queue_full' });
    await test.database.models.accountQueue.updateMany({ where: { accountId }, data: { waiting: 0 } });
    expect(await world.left()).toMatchObject({ batches: 0, jobs: 0, holds: 0, held: 0 });
    expect(await findings()).toEqual([]);
  });

  it('when its account was closed while it was recorded: nothing looks for its jobs any more', async () => {
    const outcome = during(() =>
      test.database.transaction(async (tx) => {
        await new AccountErasureStore().close(tx, world.accountId);
      }),
    );
    await expect(outcome).rejects.toMatchObject({ code: 'forbidden' });
    expect(await world.left()).toMatchObject({ batches: 0, jobs: 0, holds: 0, waiting: 0, held: 0 });
    expect(await findings()).toEqual([]);
  });
});

describe('a batch of a sub-key', () => {
  const ADA = { label: 'user', value: 'ada' };
  beforeEach(async () => {
    world.subKeyId = newId();
    const key = { name: 'of a user', keyHash: randomBytes(32), lastFour: 'abcd', scopes: [], labels: { user: 'ada' } };
    await test.database.models.apiKey.create({ data: { id: world.subKeyId, accountId: world.accountId, ...key } });
  });

  it('is refused whole when the key was revoked while it was recorded, as its label was erased', async () => {
    const outcome = during(() =>
      test.database.transaction(async (tx) => {
        expect(await new AccountErasureStore().revokeSubKeys(tx, world.accountId, ADA)).toBe(1);
      }),
    );
    await expect(outcome).rejects.toMatchObject({ code: 'forbidden' });
    expect(await world.left()).toMatchObject({ batches: 0, jobs: 0, holds: 0, waiting: 0, held: 0 });
    expect(await findings()).toEqual([]);
  });

  it('is recorded while the key ends later', async () => {
    const { batch } = await during(async () => {
      const revokedAt = new Date(Date.now() + 3_600_000);
      await test.database.models.apiKey.updateMany({ where: { accountId: world.accountId }, data: { revokedAt } });
    });
    expect(batch).toMatchObject({ jobCount: JOBS, refused: [] });
  });
});

describe('a batch that PostgreSQL undoes so that others go on', () => {
  let other: pg.Client;
  beforeEach(async () => {
    other = new pg.Client({ connectionString: test.url });
    await other.connect();
    // The batch is the one that looks for a ring, and so the one that is undone.
    await other.query(`SET deadlock_timeout = '10min'`);
  });
  afterEach(() => other.end());

  it('is recorded with the next try', async () => {
    const { accountId } = world;
    await jobs.submit();
    let ring: Promise<unknown> = Promise.resolve();
    const { batch } = await during(async () => {
      await other.query('BEGIN');
      await other.query('SELECT FROM label_use WHERE account_id = $1 FOR UPDATE', [accountId]);
      // The hold of a job that is written refers to the balance.
      ring = other
        .query('SELECT FROM balances WHERE account_id = $1 FOR UPDATE', [accountId])
        .then(() => other.query('COMMIT'));
      await eventually('the other to wait', async () => {
        const waiting = await test.database.query(
          Prisma.sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
    });
    await ring;
    expect(batch).toMatchObject({ jobCount: JOBS, refused: [] });
    expect(await world.left()).toMatchObject({ batches: 1, jobs: JOBS + 1, holds: JOBS + 1, held: JOBS + 1 });
    expect(await findings()).toEqual([]);
  });

  it('takes its failed jobs again with the next try', async () => {
    const { accountId, poolId } = world;
    const { batch } = await world.submissions().submit(world.submission(1));
    await jobs.end(await jobs.start({ poolId }), endingOf('node_failed'));
    const undone = Object.assign(new pg.DatabaseError('deadlock detected', 0, 'error'), { code: '40P01' });
    const writing = world.writing(jest.fn(world.jobs.write.bind(world.jobs)).mockRejectedValueOnce(undone));
    expect(await world.retries(writing).retry(world.retry(batch.id))).toMatchObject({ jobs: 1 });
    expect(await test.database.models.job.count({ where: { accountId, status: 'queued' } })).toBe(1);
    expect(await findings()).toEqual([]);
  });
});
