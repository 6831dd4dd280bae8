import { Prisma } from '@prisma/client';
import pg from 'pg';
import { newId } from '@millrace/contracts';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobAudit } from '../audit';
import { JobWorld, endingOf } from '../fixtures/job-world';
import { recallFromStopped } from '../lifecycle/release.store';
import { resumePaused, retryJob } from '../lifecycle/retry.store';
import { AccountQueueStore } from '../rotation/account-queue.store';

const RUNNING_LIMIT = 100;

let test: TestDatabase;
/** A session of our own, which holds the queue of one account. */
let holder: pg.Client;
beforeAll(async () => {
  test = await createTestDatabase();
  holder = new pg.Client({ connectionString: test.url });
  await holder.connect();
});
afterAll(async () => {
  await holder.end();
  await test.drop();
});

interface Queued {
  accountId: string;
  id: string;
}

/** A job of each of two accounts, dispatched in one pool. */
async function twoJobs(): Promise<{ world: JobWorld; poolId: string; held: Queued; free: Queued }> {
  const { poolId } = await makePool(test.database, 10);
  const retry = { max: 1, on: ['node_execution_error' as const], pause_seconds: 60 };
  const world = new JobWorld(test, { poolId, retry });
  const submit = async (): Promise<Queued> =>
    world.submit({ accountId: await makeAccount(test.database, { micros: 1_000_000n }) });
  return { world, poolId, held: await submit(), free: await submit() };
}

/** Do it while another session holds the queue of an account. @throws where it waits for that one. */
async function beside<T>({ accountId }: Queued, work: () => Promise<T>): Promise<T> {
  await holder.query('BEGIN');
  await holder.query('SELECT FROM account_queues WHERE account_id = $1 FOR UPDATE', [accountId]);
  let isDone = false;
  const done = work().finally(() => {
    isDone = true;
  });
  try {
    await eventually('it to be done, or to wait', async () => {
      const isWaiting = Prisma.sql`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return isDone || (await test.database.query(isWaiting)).length > 0;
    });
    expect(isDone).toBe(true);
  } finally {
    await holder.query('ROLLBACK');
  }
  return done;
}

async function waitingOf({ accountId }: Queued): Promise<number> {
  const queues = await test.database.models.accountQueue.findMany({ where: { accountId } });
  return queues.reduce((sum, { waiting }) => sum + waiting, 0);
}

async function findings(): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const finding of new JobAudit(test.database).findings()) found.push(finding);
  return found;
}

describe('while the queue of an account is locked, those of others go on', () => {
  it('with jobs whose pause is over; its own follow when it is free', async () => {
    const { world, poolId, held, free } = await twoJobs();
    for (const _ of [held, free]) {
      const fence = await world.start({ poolId });
      await retryJob(test.database, { kind: 'fence', fence }, endingOf('node_failed'));
    }
    await test.database.execute(Prisma.sql`UPDATE jobs SET retry_at = now() WHERE pool_id = ${poolId}`);
    const resume = (): Promise<string[]> => resumePaused(test.database, [held.id, free.id]);
    expect(await beside(held, resume)).toEqual([poolId]);
    expect([await waitingOf(held), await waitingOf(free)]).toEqual([0, 1]);
    expect(await resume()).toEqual([poolId]);
    expect([await waitingOf(held), await waitingOf(free)]).toEqual([1, 1]);
    expect(await findings()).toEqual([]);
  });

  it('with jobs that are taken back from the lanes of stopped deployments', async () => {
    const { world, poolId, held, free } = await twoJobs();
    for (const _ of [held, free]) await world.dispatch(poolId);
    const stopped = { id: newId(), accountId: held.accountId, name: 'one', poolId, desiredState: 'stopped' };
    await test.database.models.deployment.create({ data: stopped });
    expect(await beside(held, () => recallFromStopped(test.database))).toBe(1);
    expect([await waitingOf(held), await waitingOf(free)]).toEqual([0, 1]);
    expect(await recallFromStopped(test.database)).toBe(1);
    expect(await findings()).toEqual([]);
  });

  it('with limits that were changed', async () => {
    const { held, free } = await twoJobs();
    const store = new AccountQueueStore();
    await store.applyAllLimits(test.database, RUNNING_LIMIT);
    const ids = [held.accountId, free.accountId];
    await test.database.models.account.updateMany({ where: { id: { in: ids } }, data: { weight: 7 } });
    const apply = (): Promise<number> => store.applyAllLimits(test.database, RUNNING_LIMIT);
    expect(await beside(held, apply)).toBe(1);
    expect(await apply()).toBe(1);
    expect(await apply()).toBe(0);
  });
});
