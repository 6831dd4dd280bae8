import { Prisma } from '@prisma/client';
import pg from 'pg';
import { newId } from '@millrace/contracts';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobAudit } from '../audit';
import { JobWorld, endingOf } from '../fixtures/job-world';
import { recallFromStopped } from '../lifecycle/release.store';
import { resumePaused, retryJob } from '../lifecycle/retry.store';
import { RetiredJobs, RetiredPoolStore } from '../retired';
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

/** Do it while another session holds the queue of an account, in one pool where it is given. @throws where it waits for that one. */
async function beside<T>({ accountId }: Queued, work: () => Promise<T>, poolId?: string): Promise<T> {
  await holder.query('BEGIN');
  const ofPool = poolId === undefined ? '' : `AND pool_id = '${poolId}'`;
  await holder.query(`SELECT FROM account_queues WHERE account_id = $1 ${ofPool} FOR UPDATE`, [accountId]);
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

  it.each(['the pool that is out of use', 'the pool that stays'])(
    'with jobs of a version that was rolled back, where it is that of %s; its own follow when it is free',
    async (where) => {
      const { world, poolId, held, free } = await twoJobs();
      await world.dispatch(poolId);
      const stays = (await makePool(test.database, 10)).poolId;
      await test.database.models.deployment.create({
        data: { id: newId(), accountId: held.accountId, name: 'two versions', poolId: stays },
      });
      const { id: deploymentId } = await test.database.models.deployment.findFirstOrThrow({ where: { poolId: stays } });
      await test.database.models.deploymentVersion.create({
        data: {
          ...{ deploymentId, number: 2, poolId, weight: 0, endedAt: new Date() },
          ...{ minWorkers: 0, maxWorkers: 1, idleSeconds: 0 },
        },
      });
      if (where === 'the pool that stays') await world.submit({ accountId: held.accountId, poolId: stays });
      const retired = new RetiredJobs(test.database, new RetiredPoolStore(1_000n), () => undefined);
      const move = (): Promise<number> => retired.moveOn(deploymentId);
      const poolOf = async ({ id }: Queued): Promise<string> =>
        (await test.database.models.job.findUniqueOrThrow({ where: { id } })).poolId;
      const inPool = where === 'the pool that stays' ? stays : poolId;
      expect(await beside(held, move, inPool)).toBe(1);
      expect([await poolOf(held), await poolOf(free)]).toEqual([poolId, stays]);
      expect(await findings()).toEqual([]);
      expect(await move()).toBe(1);
      expect([await poolOf(held), await poolOf(free)]).toEqual([stays, stays]);
      expect(await move()).toBe(0);
      expect(await findings()).toEqual([]);
    },
  );

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
