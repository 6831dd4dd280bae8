import { Prisma } from '@prisma/client';
import { billingSettings } from '@millrace/billing';
import { newId, type DispatchMessage } from '@millrace/contracts';
import { LaneConsumer, LaneProducer, RedisConnections } from '@millrace/messaging';
import { KeyRing, Metrics, createLogger, readSettings } from '@millrace/platform';
import { createTestDatabase, eventually, makeAccount, testRedisUrl, type TestDatabase } from '@millrace/testing';
import { composeExecution, type JobExecution } from '../composition';
import { JobWorld } from '../fixtures/job-world';
import { jobSettings } from '../job.settings';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { Claims } from './claims.service';
import { SetAsideStore } from './set-aside.store';
import { LEFT_FOR_SECONDS, WarmClaimStore } from './warm-claim.store';
import { WarmClaims, type ClaimingWorker } from './warm-claims.service';

const SMALL = 'small.safetensors';
const LARGE = 'large.safetensors';
const OTHER = 'other.safetensors';

const logger = createLogger('test', 'fatal');
const settings = readSettings({ ...jobSettings, ...billingSettings }, {});

let test: TestDatabase;
let redis: RedisConnections;
let lanes: LaneProducer;
let execution: JobExecution;
let world: JobWorld;
/** Claims themselves. */
let plain: Claims;
const consumers: LaneConsumer[] = [];
beforeAll(async () => {
  test = await createTestDatabase();
  redis = new RedisConnections(testRedisUrl(), logger);
  lanes = new LaneProducer(redis.producer());
  world = new JobWorld(test, { priceMicrosPerSecond: 0n, holdMicros: 0n });
  const { database } = test;
  const secretKey = KeyRing.of(Buffer.alloc(32));
  const metrics = new Metrics('test');
  execution = composeExecution({ database, redis, logger, metrics, settings, secretKey });
  plain = new Claims(execution.events, settings);
});
afterAll(async () => {
  await Promise.all(consumers.map((consumer) => consumer.close()));
  await execution.close();
  await lanes.close();
  await redis.close();
  await test.drop();
});

/** A pool with one live worker for each list of models, which it holds. */
async function makePool(...holding: string[][]): Promise<{ poolId: string; workers: ClaimingWorker[] }> {
  const poolId = `pool-${newId()}`;
  await test.database.models.pool.create({ data: { id: poolId, engine: 'comfyui' } });
  const workers = holding.map((warm) => ({ id: newId(), poolId, warm }));
  // However long a test takes, they are not silent.
  const lastSeenAt = new Date(Date.now() + 600_000);
  const row = { poolId, engine: 'comfyui', version: 'test', host: 'test', pid: 1, state: 'ready', lastSeenAt };
  const data = workers.map(({ id, warm }) => ({ ...row, id, residentModels: [...warm] }));
  await test.database.models.worker.createMany({ data });
  return { poolId, workers };
}

async function submit(poolId: string, accountId: string, models: string[]): Promise<void> {
  await world.submit({ poolId, accountId, models });
}

/** Submit a job for each list of models and dispatch them all. @returns their messages, in this order. */
async function messagesFor(poolId: string, ...models: string[][]): Promise<DispatchMessage[]> {
  const accountId = await makeAccount(test.database);
  const messages: DispatchMessage[] = [];
  for (const names of models) {
    await submit(poolId, accountId, names);
    const message = await world.dispatch(poolId);
    if (message === null) throw new Error('nothing was dispatched');
    messages.push(message);
  }
  return messages;
}

/** Has a worker take messages from the lane, until the end of the tests. */
function consume(worker: ClaimingWorker, take: (message: DispatchMessage) => Promise<DispatchMessage | null>): void {
  const leave = (left: DispatchMessage): Promise<void> => execution.dispatcher.leave(worker.poolId, left);
  const consumer = new LaneConsumer(redis.consumer(), worker.poolId, take, leave, () => undefined);
  consumers.push(consumer);
  consumer.setCapacity(1);
}

describe('a job that names models', () => {
  it('names them in its message, and one without models names none', async () => {
    const { poolId } = await makePool([]);
    const messages = await messagesFor(poolId, [SMALL, LARGE], []);
    expect(messages.map(({ models }) => models)).toEqual([[SMALL, LARGE], undefined]);
  });

  it('is claimed without another statement by a worker that holds them, as is one that names none', async () => {
    const choose = jest.fn();
    const aside = { isAny: jest.fn(() => Promise.resolve(false)), next: jest.fn(), put: jest.fn() };
    // However slow the machine is, it need not look twice.
    const now = (): number => 0;
    const claims = new WarmClaims(test.database, { choose }, aside, plain, execution.dispatcher, settings, now);
    const { poolId, workers } = await makePool([SMALL, LARGE]);
    const [worker] = workers as [ClaimingWorker];
    for (const message of await messagesFor(poolId, [SMALL], [])) {
      expect(await claims.take(message, worker)).toMatchObject({ claimed: { jobId: message.jobId }, left: null });
    }
    for (const statement of [choose, aside.next, aside.put]) expect(statement).not.toHaveBeenCalled();
    expect(aside.isAny).toHaveBeenCalledTimes(1);
  });

  it('makes way for one in the lane whose models the worker holds, and is offered again', async () => {
    const { poolId, workers } = await makePool([SMALL]);
    const [worker] = workers as [ClaimingWorker];
    const [cold, plain, warm] = await messagesFor(poolId, [LARGE], [], [SMALL]);
    if (!cold || !plain || !warm) throw new Error('there are three');
    expect(await execution.claims.take(cold, worker)).toMatchObject({ claimed: { jobId: warm.jobId }, left: null });
    await eventually('the message to be back', async () => {
      const waiting = await lanes.list(poolId, 'waiting', 0, 10);
      return waiting.some(({ jobId, passed }) => jobId === cold.jobId && passed === 1);
    });
  });

  it('is passed over once for each worker of its pool at most', async () => {
    const { poolId, workers } = await makePool([SMALL], [SMALL]);
    const [worker] = workers as [ClaimingWorker];
    const [first, second] = await messagesFor(poolId, [LARGE], [LARGE], [SMALL], [SMALL]);
    if (!first || !second) throw new Error('there are two');
    expect(await execution.claims.take({ ...first, passed: 2 }, worker)).toMatchObject({
      claimed: { jobId: first.jobId },
    });
    const { claimed } = await execution.claims.take({ ...second, passed: 1 }, worker);
    expect(claimed?.models).toEqual([SMALL]);
  });

  it('is left for a moment to an idle worker that holds them, and to none that is busy, silent or about to go', async () => {
    const { poolId, workers } = await makePool([], [LARGE]);
    const [{ ...cold }, warm] = workers as [ClaimingWorker, ClaimingWorker];
    // It has the file, and would only have to load it.
    cold.lacking = [];
    const [first, second, third, fourth, fifth] = await messagesFor(poolId, ...Array<string[]>(5).fill([LARGE]));
    if (!first || !second || !third || !fourth || !fifth) throw new Error('there are five');
    const change = (data: Prisma.WorkerUpdateInput): Promise<unknown> =>
      test.database.models.worker.update({ where: { id: warm.id }, data });
    const dispatchedAgo = (seconds: number): Promise<unknown> =>
      test.database.execute(Prisma.sql`
        UPDATE jobs SET dispatched_at = now() - make_interval(secs => ${seconds}) WHERE pool_id = ${poolId}`);
    await dispatchedAgo(-60);
    expect(await execution.claims.take(first, cold)).toEqual({ claimed: null, left: first });
    await dispatchedAgo(60);
    expect((await execution.claims.take(first, cold)).claimed?.jobId).toBe(first.jobId);
    await dispatchedAgo(-60);
    await change({ state: 'draining' });
    expect((await execution.claims.take(second, cold)).claimed?.jobId).toBe(second.jobId);
    await change({ state: 'ready', lastSeenAt: new Date(Date.now() - 60_000) });
    expect((await execution.claims.take(third, cold)).claimed?.jobId).toBe(third.jobId);
    await change({ lastSeenAt: new Date() });
    expect((await execution.claims.take(fourth, warm)).claimed?.jobId).toBe(fourth.jobId);
    expect((await execution.claims.take(fifth, cold)).claimed?.jobId).toBe(fifth.jobId);
  });

  it('makes way for one whose models the worker has on its disk, where it would have to fetch them, memory first', async () => {
    const { poolId, workers } = await makePool([SMALL]);
    const [worker] = workers as [ClaimingWorker];
    const [fetched, onDisk, inMemory] = await messagesFor(poolId, [LARGE], [OTHER], [SMALL]);
    if (!fetched || !onDisk || !inMemory) throw new Error('there are three');
    const withDisk = { ...worker, disk: [OTHER] };
    expect((await execution.claims.take(fetched, withDisk)).claimed?.jobId).toBe(inMemory.jobId);
    expect((await execution.claims.take(fetched, withDisk)).claimed?.jobId).toBe(onDisk.jobId);
    expect((await execution.claims.take(fetched, withDisk)).claimed?.jobId).toBe(fetched.jobId);
  });

  it('does not make way for another on the same disk: what is read from there is read as soon', async () => {
    const { poolId, workers } = await makePool([]);
    const [worker] = workers as [ClaimingWorker];
    const [first] = await messagesFor(poolId, [LARGE], [OTHER]);
    if (!first) throw new Error('there are two');
    const withDisk = { ...worker, disk: [OTHER, LARGE] };
    expect((await execution.claims.take(first, withDisk)).claimed?.jobId).toBe(first.jobId);
  });

  it('is left for a moment to an idle worker that has them on its disk, by one that would have to fetch them', async () => {
    const { poolId, workers } = await makePool([], []);
    const [worker, other] = workers as [ClaimingWorker, ClaimingWorker];
    await test.database.models.worker.update({ where: { id: other.id }, data: { diskModels: [LARGE] } });
    const [message] = await messagesFor(poolId, [LARGE]);
    if (!message) throw new Error('there is one');
    await test.database.execute(Prisma.sql`
      UPDATE jobs SET dispatched_at = now() + interval '60 s' WHERE pool_id = ${poolId}`);
    expect(await execution.claims.take(message, worker)).toEqual({ claimed: null, left: message });
    const withDisk = { ...worker, disk: [LARGE] };
    expect((await execution.claims.take(message, withDisk)).claimed?.jobId).toBe(message.jobId);
  });

  describe('that a worker would have to fetch', () => {
    /** Two workers, one of which has the model on its disk and is busy with another job, and an attempt that needs it. */
    async function busyHolder(facts: Prisma.WorkerUpdateInput = {}): Promise<[ClaimingWorker, DispatchMessage]> {
      const { poolId, workers } = await makePool([], []);
      const [worker, holder] = workers as [ClaimingWorker, ClaimingWorker];
      await test.database.models.worker.update({ where: { id: holder.id }, data: { diskModels: [LARGE], ...facts } });
      const [other, message] = await messagesFor(poolId, [], [LARGE]);
      if (!other || !message) throw new Error('there are two');
      expect((await execution.claims.take(other, holder)).claimed).not.toBeNull();
      return [worker, message];
    }
    const dispatchedAgo = (poolId: string, seconds: number): Promise<unknown> =>
      test.database.execute(Prisma.sql`
        UPDATE jobs SET dispatched_at = now() - make_interval(secs => ${seconds})
        WHERE pool_id = ${poolId} AND delivery = 'dispatched'`);

    it('waits for a busy worker that has them on its disk, and is offered again after a while', async () => {
      const [worker, message] = await busyHolder();
      await dispatchedAgo(worker.poolId, -60);
      const { claimed, left } = await execution.claims.take(message, worker);
      expect(claimed).toBeNull();
      expect(left).toEqual({ ...message, restMs: expect.any(Number) as number });
    });

    it('waits for one that fetches them at this moment', async () => {
      const { poolId, workers } = await makePool([], []);
      const [worker, fetching] = workers as [ClaimingWorker, ClaimingWorker];
      const [first, second] = await messagesFor(poolId, [LARGE], [LARGE]);
      if (!first || !second) throw new Error('there are two');
      await dispatchedAgo(poolId, -60);
      expect((await execution.claims.take(first, fetching)).claimed?.jobId).toBe(first.jobId);
      expect(await execution.claims.take(second, worker)).toMatchObject({
        claimed: null,
        left: { jobId: second.jobId },
      });
      expect((await execution.claims.take(second, { ...worker, lacking: [] })).claimed?.jobId).toBe(second.jobId);
    });

    it('waits no longer than the setting says', async () => {
      const [worker, message] = await busyHolder();
      await dispatchedAgo(worker.poolId, settings.modelWaitSeconds + 1);
      expect((await execution.claims.take(message, worker)).claimed?.jobId).toBe(message.jobId);
    });

    it.each([
      ['whose attempts take so long that it is not free in time', { attemptMs: 3_600_000 }],
      ['that is silent', { lastSeenAt: new Date(0) }],
      ['that is about to go', { state: 'draining' }],
    ])('does not wait for a worker %s', async (_what, facts) => {
      const [worker, message] = await busyHolder(facts);
      await dispatchedAgo(worker.poolId, -60);
      expect((await execution.claims.take(message, worker)).claimed?.jobId).toBe(message.jobId);
    });

    it('waits for nobody where models are not to matter, nor makes way', async () => {
      const [worker, message] = await busyHolder();
      await dispatchedAgo(worker.poolId, -60);
      const stores = [new WarmClaimStore(), new SetAsideStore()] as const;
      const claims = new WarmClaims(test.database, ...stores, plain, execution.dispatcher, { modelWaitSeconds: 0 });
      expect((await claims.take(message, worker)).claimed?.jobId).toBe(message.jobId);
    });
  });

  it('is run by the first worker when none holds them', async () => {
    const { poolId, workers } = await makePool([OTHER], []);
    const [worker] = workers as [ClaimingWorker];
    const [message] = await messagesFor(poolId, [LARGE], [SMALL]);
    if (!message) throw new Error('there is one');
    expect(await execution.claims.take(message, worker)).toMatchObject({
      claimed: { jobId: message.jobId },
      left: null,
    });
  });
});

describe('the search for a better match', () => {
  it('passes over the workers and over what is in flight once, however many there are', async () => {
    const WORKERS = 400;
    const { poolId, workers } = await makePool([], ...Array<string[]>(WORKERS).fill([LARGE]));
    const [cold, ...warm] = workers as [ClaimingWorker, ...ClaimingWorker[]];
    const [message] = await messagesFor(poolId, [LARGE]);
    if (!message) throw new Error('there is one');
    const accountId = await makeAccount(test.database);
    await world.queueMany(poolId, accountId, WORKERS);
    // Every other worker is busy.
    await test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
      await tx.execute(Prisma.sql`
        UPDATE jobs j SET status = 'running', delivery = 'leased', attempt = 1, worker_id = w.id, lease_token = gen_random_uuid(),
          lease_expires_at = now() + interval '1 h', started_at = now(), dispatched_at = now(), seq = 2
        FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM jobs WHERE account_id = ${accountId}::uuid) q
        JOIN unnest(${warm.map(({ id }) => id)}::uuid[]) WITH ORDINALITY AS w (id, n) USING (n) WHERE j.id = q.id`);
    });
    await test.database.execute(Prisma.sql`ANALYZE jobs`);
    await test.database.execute(Prisma.sql`ANALYZE workers`);
    const store = new WarmClaimStore();
    const offer = { poolId, workerId: cold.id, warm: [], disk: [OTHER], lacking: [LARGE], waitSeconds: 60, message };
    expect(await store.choose(test.database, { ...offer, lacking: [] })).toEqual({ instead: null, holder: null });
    expect(await store.choose(test.database, offer)).toEqual({ instead: null, holder: 'busy' });
    const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      Prisma.sql`EXPLAIN (ANALYZE, FORMAT JSON) ${store.chooseSql(offer)}`,
    );
    const nodes = row?.['QUERY PLAN'].flatMap(({ Plan }) => nodesOf(Plan)) ?? [];
    const met = nodes.map((node) => {
      const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
      return (node['Actual Rows'] + removed) * node['Actual Loops'];
    });
    expect(Math.max(...met)).toBeLessThan(4 * WORKERS);
  });
});

describe('workers on a lane', () => {
  it('leave each job to the one that holds its models, which is idle, before any other runs it', async () => {
    const { poolId, workers } = await makePool([SMALL], [LARGE], []);
    const runs: { jobId: string; isMatch: boolean }[] = [];
    for (const worker of workers) {
      consume(worker, async (message) => {
        const { claimed, left } = await execution.claims.take(message, worker);
        if (claimed !== null) {
          await world.end(claimed);
          runs.push({ jobId: claimed.jobId, isMatch: claimed.models.join() === worker.warm.join() });
        }
        return left;
      });
    }
    const accountId = await makeAccount(test.database);
    for (let n = 1; n <= 12; n += 1) {
      await submit(poolId, accountId, [n % 2 === 0 ? SMALL : LARGE]);
      await execution.dispatcher.fill(poolId);
      await eventually('the job to run', () => runs.length === n);
    }
    const cold = runs.filter(({ isMatch }) => !isMatch).map(({ jobId }) => jobId);
    // On a slow machine the moment may pass for which a job is left to another.
    const early = await test.database.query(Prisma.sql`
      SELECT j.id FROM jobs j JOIN job_attempts a ON a.job_id = j.id
      WHERE j.id = ANY(${cold}::uuid[]) AND a.claimed_at < j.dispatched_at + make_interval(secs => ${LEFT_FOR_SECONDS})`);
    expect(early).toEqual([]);
    expect(cold.length).toBeLessThan(12);
  });

  it('do not delay a job that none of them holds the models of by more than one job each', async () => {
    const { poolId, workers } = await makePool([SMALL]);
    const [worker] = workers as [ClaimingWorker];
    const heavy = await makeAccount(test.database);
    for (let n = 0; n < 30; n += 1) await submit(poolId, heavy, [SMALL]);
    await execution.dispatcher.fill(poolId);
    const light = await makeAccount(test.database);
    await submit(poolId, light, [LARGE]);
    const starts: string[] = [];
    consume(worker, async (message) => {
      const { claimed, left } = await execution.claims.take(message, worker);
      if (claimed === null) return left;
      starts.push(claimed.accountId);
      await world.end(claimed);
      await execution.dispatcher.fill(poolId);
      return null;
    });
    await eventually('every job to run', () => starts.length === 31);
    // Three were in the lane before it, the next turn is its own or the other's, and one may pass it.
    expect(starts.indexOf(light)).toBeLessThanOrEqual(5);
  });

  it('claim each job once and forget none, however they pass them over', async () => {
    const { poolId, workers: made } = await makePool([SMALL], [LARGE], [], [SMALL, LARGE]);
    const workers = made.map((worker) => ({ ...worker, lacking: [] }));
    const models = Array.from({ length: 20 }, (_, n) => [[SMALL], [LARGE], [OTHER], []][n % 4] ?? []);
    const messages = await messagesFor(poolId, ...models);
    const claimed: string[] = [];
    const take = async (message: DispatchMessage, index: number): Promise<DispatchMessage | null> => {
      const worker = workers[index % workers.length];
      const taken = worker && (await execution.claims.take(message, worker));
      if (taken?.claimed) claimed.push(taken.claimed.jobId);
      return taken?.left ?? null;
    };
    const left = await Promise.all(messages.map((message, index) => take(message, index * 3)));
    for (const message of left) if (message !== null) await execution.dispatcher.leave(poolId, message);
    await eventually('all of them to be claimed', async () => {
      for (const [index, message] of (await lanes.list(poolId, 'waiting', 0, 100)).entries())
        await take(message, index);
      return claimed.length === 20;
    });
    expect([...claimed].sort()).toEqual(messages.map(({ jobId }) => jobId).sort());
  });
});

describe('an attempt whose message a worker does not act on', () => {
  let release: () => void = () => undefined;
  afterEach(() => release());

  it('is offered to others, who run it whichever models they hold', async () => {
    const { poolId, workers } = await makePool([SMALL], []);
    const [sitting, other] = workers as [ClaimingWorker, ClaimingWorker];
    let taken = false;
    consume(sitting, async () => {
      taken = true;
      await new Promise<void>((resolve) => (release = resolve));
      return null;
    });
    const [message] = await messagesFor(poolId, [SMALL]);
    if (!message) throw new Error('there is one');
    await lanes.add(poolId, message);
    await eventually('the message to be received', () => taken);
    await test.database.execute(
      Prisma.sql`UPDATE jobs SET dispatched_at = now() - interval '1 min' WHERE id = ${message.jobId}::uuid`,
    );
    expect(await execution.dispatcher.redeliver(poolId)).toBe(1);
    const received: DispatchMessage[] = [];
    consume(other, async (message) => {
      received.push(message);
      return (await execution.claims.take(message, other)).left;
    });
    await eventually('the attempt to be claimed', async () => {
      const { delivery } = await test.database.models.job.findUniqueOrThrow({ where: { id: message.jobId } });
      return delivery === 'leased';
    });
    expect(received[0]).not.toHaveProperty('models');
  });
});
