import { Prisma } from '@prisma/client';
import type { DispatchMessage } from '@millrace/contracts';
import { LaneConsumer, RedisConnections } from '@millrace/messaging';
import { createLogger } from '@millrace/platform';
import { eventually, makeAccount, testRedisUrl } from '@millrace/testing';
import { RoomWorld } from '../fixtures/room-world';
import { ONE_TURN, TurnStore } from '../rotation/turn.store';
import type { ClaimedAttempt } from '../state';
import { SetAsideStore } from './set-aside.store';
import { WarmClaimStore } from './warm-claim.store';
import { WarmClaims, type ClaimingWorker } from './warm-claims.service';

const LARGE = 'large.safetensors';
const LARGE_BYTES = 6_000;
const SMALL_BYTES = 1_000;
const ROOM = 1_000;

let world: RoomWorld;
let redis: RedisConnections;
beforeAll(async () => {
  world = await RoomWorld.open();
  redis = new RedisConnections(testRedisUrl(), createLogger('test', 'fatal'));
});
const consumers: LaneConsumer[] = [];
afterEach(async () => {
  await Promise.all(consumers.splice(0).map((consumer) => consumer.close()));
});
afterAll(async () => {
  await redis.close();
  await world.close();
});
beforeEach(async () => {
  await world.account();
  await world.addModel(LARGE, LARGE_BYTES);
});

/** A pool with one worker that has room for the model and some that have none. */
async function makePool(small = 1): Promise<{ poolId: string; large: ClaimingWorker; small: ClaimingWorker[] }> {
  const { poolId, workers } = await world.makePool(LARGE_BYTES, ...Array<number>(small).fill(SMALL_BYTES));
  const [large, ...others] = workers as [ClaimingWorker, ...ClaimingWorker[]];
  return { poolId, large, small: others };
}

/**
 * A job of the account whose turn has come: so long ago that nobody is waited for because of models. Its message is for the test to give, and may
 * be in the lane as well: what sets another job aside has the lane filled.
 */
async function inLane(poolId: string, models: string[] = [LARGE]): Promise<DispatchMessage> {
  const { id } = await world.jobs.submit({ poolId, accountId: world.accountId, models });
  await eventually('the job to be dispatched', async () => {
    await world.jobs.dispatch(poolId);
    return (await world.job(id)).delivery === 'dispatched';
  });
  await world.test.database.models.job.update({ where: { id }, data: { dispatchedAt: new Date(0) } });
  return { jobId: id, attempt: 1, models };
}

/** The worker with room has something to do. */
async function busy(poolId: string, large: ClaimingWorker): Promise<ClaimedAttempt> {
  return world.take(await inLane(poolId, []), large);
}

const claims = () => world.execution.claims;
const isAside = async ({ jobId }: DispatchMessage): Promise<boolean> => {
  const { delivery, dispatchedAt } = await world.job(jobId);
  return delivery === 'dispatched' && dispatchedAt === null;
};
/** Attempts of the pool in flight, as the next turn counts them. */
const inFlight = (poolId: string): Promise<number> =>
  eventually('nobody else to dispatch for the pool', async () => {
    const [turn] = await new TurnStore().take(world.test.database, poolId, ROOM, ONE_TURN);
    return turn.inFlight ?? undefined;
  });
/** What is in the lane of a pool, by its jobs. */
const laneOf = async (poolId: string): Promise<string[]> =>
  (await world.lanes.list(poolId, 'waiting', 0, 100)).map(({ jobId }) => jobId);

describe('a job for which the workers with room are busy', () => {
  it('is set aside: its message is no more, and it is neither in flight nor lost', async () => {
    const { poolId, large, small } = await makePool();
    const [worker] = small as [ClaimingWorker];
    await busy(poolId, large);
    const message = await inLane(poolId);
    expect(await claims().take(message, worker)).toEqual({ claimed: null, left: null });
    expect(await isAside(message)).toBe(true);
    expect(await inFlight(poolId)).toBe(1);
    expect(await world.execution.dispatcher.redeliver(poolId)).toBe(0);
    expect(await laneOf(poolId)).toEqual([]);
    // Its place among what runs of its account it keeps.
    expect(await world.jobs.queueOf({ poolId, accountId: world.accountId })).toEqual({ waiting: 0, inFlight: 2 });
  });

  it('is what the first of them runs that receives anything, and what that has received goes to others', async () => {
    const { poolId, large, small } = await makePool();
    const [worker] = small as [ClaimingWorker];
    const running = await busy(poolId, large);
    const message = await inLane(poolId);
    await claims().take(message, worker);
    await world.jobs.end(running);
    const other = await inLane(poolId, []);
    expect((await world.take(other, large)).jobId).toBe(message.jobId);
    expect(await isAside(message)).toBe(false);
    await eventually('the other to be offered again', async () => {
      const offered = await world.lanes.list(poolId, 'waiting', 0, 10);
      return offered.some(({ jobId, passed }) => jobId === other.jobId && passed === 1);
    });
    expect(await inFlight(poolId)).toBe(2);
    // It counts from its claim on, as of any time.
    expect((await world.job(message.jobId)).dispatchedAt).not.toBeNull();
  });

  it('is run for no message that was passed over once for each worker', async () => {
    const { poolId, large, small } = await makePool();
    const [worker] = small as [ClaimingWorker];
    const running = await busy(poolId, large);
    await claims().take(await inLane(poolId), worker);
    await world.jobs.end(running);
    const other = await inLane(poolId, []);
    expect((await world.take({ ...other, passed: 2 }, large)).jobId).toBe(other.jobId);
  });

  it('is claimed by a message of its own as well, which another worker left', async () => {
    const { poolId, large, small } = await makePool();
    const [worker] = small as [ClaimingWorker];
    const running = await busy(poolId, large);
    const message = await inLane(poolId);
    await claims().take(message, worker);
    await world.jobs.end(running);
    expect((await world.take(message, large)).jobId).toBe(message.jobId);
    expect(await laneOf(poolId)).toEqual([]);
  });

  it('is canceled as any that has not started', async () => {
    const { poolId, large, small } = await makePool();
    const [worker] = small as [ClaimingWorker];
    await busy(poolId, large);
    const message = await inLane(poolId);
    await claims().take(message, worker);
    const scope = { accountId: world.accountId, surface: 'cloud', deploymentId: null, labels: null } as const;
    await world.execution.lifecycle.cancel(scope, message.jobId);
    expect(await world.job(message.jobId)).toMatchObject({ status: 'canceled', delivery: 'done' });
    expect(await world.jobs.queueOf({ poolId, accountId: world.accountId })).toEqual({ waiting: 0, inFlight: 1 });
  });
});

describe('the place of a worker with room that has gone', () => {
  it('is seen between two statements: the attempt is claimed, and its message not dropped', async () => {
    const { poolId, large, small } = await makePool();
    const [worker] = small as [ClaimingWorker];
    const store = new SetAsideStore();
    const { database } = world.test;
    const put: SetAsideStore['put'] = async (...asked) => {
      await world.change(large, { state: 'draining' });
      return store.put(...asked);
    };
    const aside = { isAny: () => Promise.resolve(false), next: () => Promise.resolve(null), put };
    const plain = Reflect.get(claims(), 'claims') as ConstructorParameters<typeof WarmClaims>[3];
    const { dispatcher } = world.execution;
    const racing = new WarmClaims(database, new WarmClaimStore(), aside, plain, dispatcher, { modelWaitSeconds: 10 });
    const message = await inLane(poolId);
    expect((await racing.take(message, worker)).claimed?.jobId).toBe(message.jobId);
  });

  it('is taken by any worker once none has room, and by one with room that is idle', async () => {
    const { poolId, large, small } = await makePool();
    const [worker] = small as [ClaimingWorker];
    const running = await busy(poolId, large);
    const message = await inLane(poolId);
    await claims().take(message, worker);
    // All that have room are busy: they find it themselves.
    expect(await world.offer(poolId)).toBe(0);
    await world.jobs.end(running);
    // An offer is no change: a worker that takes nothing does not keep the loop from its rest.
    for (let run = 0; run < 3; run += 1) expect(await world.offer(poolId)).toBe(0);
    expect(await laneOf(poolId)).toEqual([message.jobId]);
    expect(await isAside(message)).toBe(true);
    await world.change(large, { state: 'stopped', stoppedAt: new Date() });
    expect(await world.offer(poolId)).toBe(1);
    expect(await isAside(message)).toBe(false);
    expect(await inFlight(poolId)).toBe(1);
    expect((await world.take(message, worker)).jobId).toBe(message.jobId);
  });

  it('is offered as often as it has room for', async () => {
    const { poolId, large, small } = await makePool();
    const [worker] = small as [ClaimingWorker];
    const running = await busy(poolId, large);
    for (let n = 0; n < 3; n += 1) await claims().take(await inLane(poolId), worker);
    await world.jobs.end(running);
    const offered = async (): Promise<number> => {
      await world.offer(poolId);
      const jobs = (await new SetAsideStore().listAwaited(world.test.database, poolId)).map(({ jobId }) => jobId);
      // What filled the lane as the jobs were made may be there as well.
      expect(await laneOf(poolId)).toEqual(expect.arrayContaining(jobs));
      return jobs.length;
    };
    expect(await offered()).toBe(1);
    await world.change(large, { capacity: 2 });
    expect(await offered()).toBe(2);
  });
});

describe('a match that a worker finds in the lane and has no room for', () => {
  it('is set aside as well, so that it is found once', async () => {
    const { poolId, large, small } = await makePool();
    const [worker] = small as [ClaimingWorker];
    await busy(poolId, large);
    const [offered, match] = [await inLane(poolId, ['other.safetensors']), await inLane(poolId)];
    const holding = { ...worker, warm: [LARGE] };
    expect((await world.take(offered, holding)).jobId).toBe(offered.jobId);
    expect(await isAside(match)).toBe(true);
  });
});

describe('accounts of which many jobs are set aside', () => {
  it('share the workers with room by turns: one that comes later does not wait for all of another', async () => {
    const { poolId, large, small } = await makePool();
    const [worker] = small as [ClaimingWorker];
    let running = await busy(poolId, large);
    const heavy = world.accountId;
    for (let n = 0; n < 5; n += 1) await claims().take(await inLane(poolId), worker);
    const light = await world.account();
    await world.addModel(LARGE, LARGE_BYTES);
    await claims().take(await inLane(poolId), worker);
    const order: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      await world.jobs.end(running);
      // Of a third account, and never run: it is what the worker receives.
      await world.account();
      const other = await inLane(poolId, []);
      running = await world.take(other, large);
      order.push(running.accountId);
    }
    expect(order.filter((id) => id === heavy)).toHaveLength(5);
    expect(order.indexOf(light)).toBeLessThanOrEqual(1);
  });
});

describe('a pool with one worker for large models and nine for small ones', () => {
  const SMALL = 9;
  const JOBS = 12;

  it('goes on with the jobs of one account while twelve of another wait for the one, which runs them one after the other', async () => {
    const { poolId, large, small } = await makePool(SMALL);
    const heavy = world.accountId;
    const light = await makeAccount(world.test.database, { micros: 100_000_000n });
    const ends = new Map<string, { claimed: ClaimedAttempt; worker: ClaimingWorker }>();
    const done: string[] = [];
    let isHeld = true;
    for (const worker of [large, ...small]) {
      const take = async (message: DispatchMessage): Promise<DispatchMessage | null> => {
        const { claimed, left } = await claims().take(message, worker);
        if (claimed === null) return left;
        ends.set(claimed.jobId, { claimed, worker });
        // The first large job runs until the others are through.
        if (claimed.accountId === heavy) await eventually('the others to be done', () => !isHeld);
        await world.jobs.end(claimed);
        done.push(claimed.accountId);
        await world.execution.dispatcher.fill(poolId);
        return null;
      };
      const leave = (left: DispatchMessage): Promise<void> => world.execution.dispatcher.leave(poolId, left);
      const consumer = new LaneConsumer(redis.consumer(), poolId, take, leave, () => undefined);
      consumers.push(consumer);
      consumer.setCapacity(1);
    }
    for (let n = 0; n < JOBS; n += 1) await world.jobs.submit({ poolId, accountId: heavy, models: [LARGE] });
    await world.execution.dispatcher.fill(poolId);
    for (let n = 0; n < JOBS; n += 1) await world.jobs.submit({ poolId, accountId: light });
    await eventually('the jobs of the other account to be done', async () => {
      await world.execution.dispatcher.fill(poolId);
      return done.filter((account) => account === light).length === JOBS;
    });
    expect(done.filter((account) => account === heavy)).toEqual([]);
    isHeld = false;
    await eventually('all of them to be done', async () => {
      await world.offer(poolId);
      return done.length === 2 * JOBS;
    });
    for (const { claimed, worker } of ends.values()) {
      if (claimed.accountId === heavy) expect(worker.id).toBe(large.id);
    }
    const attempts = await world.test.database.query<{ count: number }>(Prisma.sql`
      SELECT count(*)::int AS count FROM job_attempts a JOIN jobs j ON j.id = a.job_id WHERE j.pool_id = ${poolId}`);
    expect(attempts[0]?.count).toBe(2 * JOBS);
  });
});
