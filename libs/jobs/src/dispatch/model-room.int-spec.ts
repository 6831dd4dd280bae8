import { Prisma } from '@prisma/client';
import { billingSettings } from '@millrace/billing';
import { newId, type DispatchMessage } from '@millrace/contracts';
import { RedisConnections } from '@millrace/messaging';
import { KeyRing, Metrics, createLogger, readSettings } from '@millrace/platform';
import { createTestDatabase, eventually, makeAccount, testRedisUrl, type TestDatabase } from '@millrace/testing';
import { composeExecution, type JobExecution } from '../composition';
import { JobWorld, cloudScope } from '../fixtures/job-world';
import { findAttempts } from '../follow/job-attempt.store';
import { describeAttempts } from '../follow/job-attempts';
import { jobSettings } from '../job.settings';
import type { ClaimedAttempt } from '../state';
import type { ClaimingWorker } from './warm-claims.service';

const BASE = 'base.safetensors';
const DETAIL = 'detail.safetensors';
const BASE_BYTES = 6_000;
const DETAIL_BYTES = 2_000;
const BOTH_BYTES = BASE_BYTES + DETAIL_BYTES;

const logger = createLogger('test', 'fatal');
const settings = readSettings({ ...jobSettings, ...billingSettings }, {});

let test: TestDatabase;
let redis: RedisConnections;
let execution: JobExecution;
let world: JobWorld;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase();
  redis = new RedisConnections(testRedisUrl(), logger);
  world = new JobWorld(test);
  const { database } = test;
  const secretKey = KeyRing.of(Buffer.alloc(32));
  execution = composeExecution({ database, redis, logger, metrics: new Metrics('test'), settings, secretKey });
});
afterAll(async () => {
  await execution.close();
  await redis.close();
  await test.drop();
});
beforeEach(async () => {
  accountId = await makeAccount(test.database, { micros: 1_000_000n });
  await addModel(BASE, BASE_BYTES);
  await addModel(DETAIL, DETAIL_BYTES);
});

/** A model in the library of the account. */
async function addModel(name: string, sizeBytes: number, folder = 'checkpoints'): Promise<void> {
  await test.database.transaction(async (tx) => {
    // What stands behind a model is not looked at here.
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`
      INSERT INTO models (id, account_id, folder, name, format, state, asset_id, digest, size_bytes)
      VALUES (${newId()}::uuid, ${accountId}::uuid, ${folder}, ${name}, 'safetensors', 'ready', ${newId()}::uuid, ${`${name} ${accountId}`}, ${sizeBytes})`);
  });
}

type Workers = [ClaimingWorker, ClaimingWorker];

/** A pool with one live worker for each capacity of its cache; null: it says none. */
async function makePool(...capacities: (number | null)[]): Promise<{ poolId: string; workers: ClaimingWorker[] }> {
  const poolId = `pool-${newId()}`;
  await test.database.models.pool.create({ data: { id: poolId, engine: 'comfyui' } });
  const workers = capacities.map(() => ({ id: newId(), poolId, warm: [] }));
  // However long a test takes, they are not silent.
  const lastSeenAt = new Date(Date.now() + 600_000);
  const row = { poolId, engine: 'comfyui', version: 'test', host: 'test', pid: 1, state: 'ready', lastSeenAt };
  const data = workers.map(({ id }, index) => ({ ...row, id, modelCacheBytes: capacities[index] ?? null }));
  await test.database.models.worker.createMany({ data });
  return { poolId, workers };
}

const change = (worker: ClaimingWorker, data: Prisma.WorkerUpdateInput): Promise<unknown> =>
  test.database.models.worker.update({ where: { id: worker.id }, data });

/** A job of the account that waits in the lane. */
async function dispatched(poolId: string, models = [BASE, DETAIL]): Promise<DispatchMessage> {
  await world.submit({ poolId, accountId, models });
  return nextMessage(poolId);
}

/** The message of the one job of a pool, which may have been dispatched by what has released it. */
async function nextMessage(poolId: string): Promise<DispatchMessage> {
  const { job } = test.database.models;
  await eventually('the job to be dispatched', async () => {
    await world.dispatch(poolId);
    return (await job.count({ where: { poolId, delivery: 'dispatched' } })) === 1;
  });
  const { id, attempt, models } = await job.findFirstOrThrow({ where: { poolId, delivery: 'dispatched' } });
  // So that no preference for models of others is in the way.
  await job.update({ where: { id }, data: { dispatchedAt: new Date(Date.now() - 3_600_000) } });
  return { jobId: id, attempt: attempt + 1, models };
}

/** Have a worker take an attempt. @throws when it gets none. */
async function take(message: DispatchMessage, worker: ClaimingWorker): Promise<ClaimedAttempt> {
  const { claimed } = await execution.claims.take(message, worker);
  if (claimed === null) throw new Error('nothing was claimed');
  return claimed;
}

const lack = { message: `The disk has no room for ${BASE} (6.0 KB).`, neededBytes: BOTH_BYTES, nodeId: '4' };
const job = (id: string) => test.database.models.job.findUniqueOrThrow({ where: { id } });
const leftOf = (message: DispatchMessage): unknown => ({
  claimed: null,
  left: { ...message, restMs: expect.any(Number) as number },
});

describe('a job whose models a worker cannot hold', () => {
  it('is left to a worker of its pool that can, which takes it', async () => {
    const { poolId, workers } = await makePool(BOTH_BYTES - 1, BOTH_BYTES);
    const [small, large] = workers as Workers;
    const message = await dispatched(poolId);
    expect(await execution.claims.take(message, small)).toEqual(leftOf(message));
    expect(await job(message.jobId)).toMatchObject({ status: 'queued', delivery: 'dispatched', attempt: 0 });
    expect((await take(message, large)).jobId).toBe(message.jobId);
  });

  it('is left also where its message was put back without the names', async () => {
    const { poolId, workers } = await makePool(BASE_BYTES - 1, BASE_BYTES);
    const [small] = workers as Workers;
    const { models, ...message } = await dispatched(poolId, [BASE]);
    expect(models).toEqual([BASE]);
    expect(await execution.claims.take(message, small)).toEqual(leftOf(message));
  });

  it.each<[string, Prisma.WorkerUpdateInput]>([
    ['that has gone', { state: 'stopped', stoppedAt: new Date() }],
    ['that drains', { state: 'draining' }],
    ['that is silent', { lastSeenAt: new Date(0) }],
    ['that says nothing of its cache', { modelCacheBytes: null }],
    ['that has too little room itself', { modelCacheBytes: BOTH_BYTES - 1 }],
  ])('is not left to a worker %s: it would wait for ever', async (_what, facts) => {
    const { poolId, workers } = await makePool(BASE_BYTES, BOTH_BYTES);
    const [small, large] = workers as Workers;
    await change(large, facts);
    const message = await dispatched(poolId);
    expect((await take(message, small)).jobId).toBe(message.jobId);
  });

  it('is not left to a worker of another pool', async () => {
    const { poolId, workers } = await makePool(BASE_BYTES);
    await makePool(BOTH_BYTES);
    const message = await dispatched(poolId);
    expect((await take(message, workers[0] as ClaimingWorker)).jobId).toBe(message.jobId);
  });

  it('is left to one that starts', async () => {
    const { poolId, workers } = await makePool(BASE_BYTES, BOTH_BYTES);
    const [small, large] = workers as Workers;
    await change(large, { state: 'starting' });
    const message = await dispatched(poolId);
    expect(await execution.claims.take(message, small)).toEqual(leftOf(message));
  });

  it('is counted by what its account means: one content once, its own before a shared one, and nothing of others', async () => {
    const { poolId, workers } = await makePool(BASE_BYTES, 10 * BASE_BYTES);
    const [small] = workers as Workers;
    // The same content under another name, as uploads of one file are.
    await addModel('same.safetensors', BASE_BYTES);
    await test.database.execute(Prisma.sql`
      UPDATE models SET digest = ${`${BASE} ${accountId}`} WHERE account_id = ${accountId}::uuid AND name = 'same.safetensors'`);
    const owner = accountId;
    accountId = await makeAccount(test.database);
    await addModel(BASE, 9 * BASE_BYTES);
    await test.database.models.libraryModel.updateMany({ where: { accountId, name: BASE }, data: { shared: true } });
    await addModel('same.safetensors', 9 * BASE_BYTES, 'loras');
    accountId = owner;
    const message = await dispatched(poolId, [BASE, 'same.safetensors']);
    expect((await take(message, small)).jobId).toBe(message.jobId);
  });

  it('is taken where the worker says nothing of its cache', async () => {
    const { poolId, workers } = await makePool(null, BOTH_BYTES);
    const message = await dispatched(poolId);
    expect((await take(message, workers[0] as ClaimingWorker)).jobId).toBe(message.jobId);
  });
});

describe('an attempt whose worker finds out that it has no room', () => {
  it('goes to another worker, costs none of the attempts, and shows its reason', async () => {
    const { poolId, workers } = await makePool(BOTH_BYTES, BOTH_BYTES);
    const [first, second] = workers as Workers;
    const message = await dispatched(poolId);
    const before = await job(message.jobId);
    const claimed = await take(message, first);
    expect(await execution.lifecycle.lackRoom(claimed, lack)).toMatchObject({ status: 'running' });
    // Waiting, or in the lane again: its pool is dispatched as soon as the change has committed.
    const freed = await job(message.jobId);
    expect(['waiting', 'dispatched']).toContain(freed.delivery);
    expect(freed).toMatchObject({ leaseToken: null, maxAttempts: before.maxAttempts + 1 });

    const again = await nextMessage(poolId);
    expect(again).toMatchObject({ jobId: message.jobId, attempt: 2 });
    expect(await execution.claims.take(again, first)).toEqual(leftOf(again));
    const retaken = await take(again, second);
    await world.end(retaken);
    const row = await findAttempts(test.database, cloudScope(accountId), message.jobId);
    const attempts = row && describeAttempts(row);
    expect(attempts?.map(({ outcome, charge }) => [outcome, charge])).toEqual([
      ['handed_back', 'not_charged'],
      ['succeeded', expect.any(String)],
    ]);
    expect(attempts?.[0]?.error).toEqual({ code: 'input_unavailable', message: lack.message, node_id: '4' });
  });

  it('is taken by the same worker again some minutes later, and when the other has gone', async () => {
    const { poolId, workers } = await makePool(BOTH_BYTES, BOTH_BYTES);
    const [first, second] = workers as Workers;
    const message = await dispatched(poolId);
    await execution.lifecycle.lackRoom(await take(message, first), lack);
    const again = await nextMessage(poolId);
    await change(second, { state: 'draining' });
    const retaken = await take(again, first);
    await change(second, { state: 'ready' });
    await execution.lifecycle.lackRoom(retaken, lack);
    const third = await nextMessage(poolId);
    expect(await execution.claims.take(third, first)).toEqual(leftOf(third));
    await test.database.execute(Prisma.sql`
      UPDATE job_attempts SET ended_at = now() - interval '10 min' WHERE job_id = ${message.jobId}::uuid`);
    expect((await take(third, first)).attempt).toBe(3);
  });

  it('ends its job, which costs nothing, where no other worker of the pool can hold the models', async () => {
    const { poolId, workers } = await makePool(BOTH_BYTES, BOTH_BYTES - 1);
    const message = await dispatched(poolId);
    const claimed = await take(message, workers[0] as ClaimingWorker);
    const moved = await execution.lifecycle.lackRoom(claimed, lack);
    expect(moved).toMatchObject({ status: 'failed', errorCode: 'input_unavailable', chargedMicros: 0n });
    const { error } = await job(message.jobId);
    expect(error).toMatchObject({ node_id: '4' });
    expect((error as { message: string }).message).toBe(
      `${lack.message} No other worker that this job can run on has room for them. Nothing was charged. ` +
        'Use smaller models, or submit the job again once there is a worker with more room.',
    );
  });

  it('ends its job once each worker that might hold the models has found out that it has no room', async () => {
    const { poolId, workers } = await makePool(BOTH_BYTES, BOTH_BYTES);
    const [first, second] = workers as Workers;
    await execution.lifecycle.lackRoom(await take(await dispatched(poolId), first), lack);
    const claimed = await take(await nextMessage(poolId), second);
    expect(await execution.lifecycle.lackRoom(claimed, lack)).toMatchObject({ status: 'failed' });
  });

  it('changes nothing with a lease that was lost', async () => {
    const { poolId, workers } = await makePool(BOTH_BYTES, BOTH_BYTES);
    const message = await dispatched(poolId);
    const claimed = await take(message, workers[0] as ClaimingWorker);
    expect(await execution.lifecycle.lackRoom({ ...claimed, leaseToken: newId() }, lack)).toBeNull();
    expect(await job(message.jobId)).toMatchObject({ status: 'running', delivery: 'leased', attempt: 1 });
  });
});
