import { AsyncLocalStorage } from 'node:async_hooks';
import { AccountStore } from '@millrace/accounts';
import { createTestDatabase, testBilling, type TestDatabase } from '@millrace/testing';
import { JobAudit } from '../audit';
import type { SubmittedBatch } from '../batches/batch-submissions.service';
import { BatchWorld } from '../fixtures/batch-world';
import { JobWorld, cloudScope, endingOf } from '../fixtures/job-world';
import { composeSpendCaps } from '../labels';
import { endJob } from '../lifecycle/end.store';

/** More than one group of them. */
const JOBS = 200;

let test: TestDatabase;
let world: BatchWorld;
let jobs: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  world = await BatchWorld.open(test);
  const { accountId, poolId } = world;
  jobs = new JobWorld(test, { accountId, poolId, queueLimit: 10_000 });
  await test.database.transaction((tx) =>
    composeSpendCaps(test.database).put(tx, accountId, {
      ...{ scope: 'account', keyId: null, dailyMicros: 1_000_000_000n, monthlyMicros: null },
      ...{ dailyAtCap: 'stop', monthlyAtCap: 'stop' },
    }),
  );
});

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
});
