import { Prisma } from '@prisma/client';
import { newId, type DispatchMessage } from '@millrace/contracts';
import { cloudScope } from '../fixtures/job-world';
import { RoomWorld } from '../fixtures/room-world';
import { findAttempts } from '../follow/job-attempt.store';
import { describeAttempts } from '../follow/job-attempts';
import type { ClaimingWorker } from './warm-claims.service';

const BASE = 'base.safetensors';
const DETAIL = 'detail.safetensors';
const BASE_BYTES = 6_000;
const DETAIL_BYTES = 2_000;
const BOTH_BYTES = BASE_BYTES + DETAIL_BYTES;
const BOTH = [BASE, DETAIL];
/** As many as a job has by default. */
const MAX_ATTEMPTS = 3;

let world: RoomWorld;
beforeAll(async () => {
  world = await RoomWorld.open();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.account();
  await world.addModel(BASE, BASE_BYTES);
  await world.addModel(DETAIL, DETAIL_BYTES);
});

type Workers = [ClaimingWorker, ClaimingWorker];

const lack = {
  message: `The disk has no room for ${BASE} (6.0 KB).`,
  neededBytes: BOTH_BYTES,
  nodeId: '4',
  isPassing: false,
};
const minutesAgo = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);
const leftOf = (message: DispatchMessage): unknown => ({
  claimed: null,
  left: { ...message, restMs: expect.any(Number) as number },
});

describe('a job whose models a worker cannot hold', () => {
  it('is left to a worker of its pool that can, which takes it', async () => {
    const { poolId, workers } = await world.makePool(BOTH_BYTES - 1, BOTH_BYTES);
    const [small, large] = workers as Workers;
    const message = await world.dispatched(poolId, BOTH);
    expect(await world.execution.claims.take(message, small)).toEqual(leftOf(message));
    expect(await world.job(message.jobId)).toMatchObject({ status: 'queued', delivery: 'dispatched', attempt: 0 });
    expect((await world.take(message, large)).jobId).toBe(message.jobId);
  });

  it('is left also where its message was put back without the names', async () => {
    const { poolId, workers } = await world.makePool(BASE_BYTES - 1, BASE_BYTES);
    const [small] = workers as Workers;
    const { models, ...message } = await world.dispatched(poolId, [BASE]);
    expect(models).toEqual([BASE]);
    expect(await world.execution.claims.take(message, small)).toEqual(leftOf(message));
  });

  it.each<[string, Prisma.WorkerUpdateInput]>([
    ['that has gone', { state: 'stopped', stoppedAt: new Date() }],
    ['that drains', { state: 'draining' }],
    ['that is silent', { lastSeenAt: new Date(0) }],
    ['that says nothing of its cache', { modelCacheBytes: null }],
    ['that has too little room itself', { modelCacheBytes: BOTH_BYTES - 1 }],
  ])('is not left to a worker %s: it would wait for ever', async (_what, facts) => {
    const { poolId, workers } = await world.makePool(BASE_BYTES, BOTH_BYTES);
    const [small, large] = workers as Workers;
    await world.change(large, facts);
    const message = await world.dispatched(poolId, BOTH);
    expect((await world.take(message, small)).jobId).toBe(message.jobId);
  });

  it('is not left to a worker of another pool', async () => {
    const { poolId, workers } = await world.makePool(BASE_BYTES);
    await world.makePool(BOTH_BYTES);
    const message = await world.dispatched(poolId, BOTH);
    expect((await world.take(message, workers[0] as ClaimingWorker)).jobId).toBe(message.jobId);
  });

  it.each<[string, Prisma.WorkerUpdateInput]>([
    ['starts', {}],
    ['has been sick for a short time', { problem: 'a test', sickSince: minutesAgo(4) }],
  ])('waits for one that %s, in no lane', async (_what, facts) => {
    const { poolId, workers } = await world.makePool(BASE_BYTES, BOTH_BYTES);
    const [small, large] = workers as Workers;
    await world.change(large, { state: 'starting', ...facts });
    const message = await world.dispatched(poolId, BOTH);
    expect(await world.execution.claims.take(message, small)).toEqual({ claimed: null, left: null });
    expect(await world.job(message.jobId)).toMatchObject({ delivery: 'dispatched', dispatchedAt: null });
  });

  it.each<[string, Prisma.WorkerUpdateInput]>([
    ['for longer', { problem: 'a test', sickSince: minutesAgo(6) }],
    ['since nobody knows when', { problem: 'a test', sickSince: null }],
  ])('waits for none that has been sick %s, neither before nor once a worker has found out', async (_what, facts) => {
    const { poolId, workers } = await world.makePool(BASE_BYTES, BOTH_BYTES);
    const [small, large] = workers as Workers;
    await world.change(large, { state: 'starting', ...facts });
    const claimed = await world.take(await world.dispatched(poolId, BOTH), small);
    expect(await world.execution.lifecycle.lackRoom(claimed, lack)).toMatchObject({
      status: 'failed',
      errorCode: 'input_unavailable',
    });
  });

  it('costs no look at its models where no other worker can hold more', async () => {
    const { poolId, workers } = await world.makePool(BASE_BYTES, BASE_BYTES, null);
    const [first, , third] = workers as [ClaimingWorker, ClaimingWorker, ClaimingWorker];
    const { database } = world.test;
    const [function_] = await database.query<{ text: string }>(
      Prisma.sql`SELECT pg_get_functiondef('model_bytes'::regproc) AS text`,
    );
    await database.execute(Prisma.sql`
      CREATE OR REPLACE FUNCTION model_bytes(account uuid, names text[]) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
      BEGIN RAISE 'looked at'; END $$`);
    try {
      for (const worker of [first, third]) {
        const claimed = await world.take(await world.dispatched(poolId, BOTH), worker);
        await world.jobs.end(claimed);
      }
    } finally {
      await database.execute(Prisma.raw(function_?.text ?? ''));
    }
  });

  it('is counted by what its account means: one content once, its own before a shared one, and nothing of others', async () => {
    const { poolId, workers } = await world.makePool(BASE_BYTES, 10 * BASE_BYTES);
    const [small] = workers as Workers;
    // The same content under another name, as uploads of one file are.
    await world.addModel('same.safetensors', BASE_BYTES);
    await world.test.database.execute(Prisma.sql`
      UPDATE models SET digest = ${`${BASE} ${world.accountId}`} WHERE account_id = ${world.accountId}::uuid AND name = 'same.safetensors'`);
    const owner = world.accountId;
    const accountId = await world.account();
    await world.addModel(BASE, 9 * BASE_BYTES);
    await world.test.database.models.libraryModel.updateMany({
      where: { accountId, name: BASE },
      data: { shared: true },
    });
    await world.addModel('same.safetensors', 9 * BASE_BYTES, 'loras');
    world.accountId = owner;
    const message = await world.dispatched(poolId, [BASE, 'same.safetensors']);
    expect((await world.take(message, small)).jobId).toBe(message.jobId);
  });

  it('is taken where the worker says nothing of its cache', async () => {
    const { poolId, workers } = await world.makePool(null, BOTH_BYTES);
    const message = await world.dispatched(poolId, BOTH);
    expect((await world.take(message, workers[0] as ClaimingWorker)).jobId).toBe(message.jobId);
  });
});

describe('an attempt whose worker finds out that it has no room', () => {
  it('goes to another worker, costs none of the attempts, and shows its reason', async () => {
    const { poolId, workers } = await world.makePool(BOTH_BYTES, BOTH_BYTES);
    const [first, second] = workers as Workers;
    const message = await world.dispatched(poolId, BOTH);
    const before = await world.job(message.jobId);
    const claimed = await world.take(message, first);
    expect(await world.execution.lifecycle.lackRoom(claimed, lack)).toMatchObject({ status: 'running' });
    // Waiting, or in the lane again: its pool is dispatched as soon as the change has committed.
    const freed = await world.job(message.jobId);
    expect(['waiting', 'dispatched']).toContain(freed.delivery);
    expect(freed).toMatchObject({ leaseToken: null, maxAttempts: before.maxAttempts + 1 });

    const again = await world.nextMessage(poolId);
    expect(again).toMatchObject({ jobId: message.jobId, attempt: 2 });
    expect(await world.execution.claims.take(again, first)).toEqual(leftOf(again));
    const retaken = await world.take(again, second);
    await world.jobs.end(retaken);
    const row = await findAttempts(world.test.database, cloudScope(world.accountId), message.jobId);
    const attempts = row && describeAttempts(row);
    expect(attempts?.map(({ outcome, charge }) => [outcome, charge])).toEqual([
      ['handed_back', 'not_charged'],
      ['succeeded', expect.any(String)],
    ]);
    expect(attempts?.[0]?.error).toEqual({ code: 'input_unavailable', message: lack.message, node_id: '4' });
  });

  it('is taken by the same worker again some minutes later, and when the other has gone', async () => {
    const { poolId, workers } = await world.makePool(BOTH_BYTES, BOTH_BYTES);
    const [first, second] = workers as Workers;
    const message = await world.dispatched(poolId, BOTH);
    await world.execution.lifecycle.lackRoom(await world.take(message, first), lack);
    const again = await world.nextMessage(poolId);
    await world.change(second, { state: 'draining' });
    const retaken = await world.take(again, first);
    await world.change(second, { state: 'ready' });
    await world.execution.lifecycle.lackRoom(retaken, lack);
    const third = await world.nextMessage(poolId);
    expect(await world.execution.claims.take(third, first)).toEqual(leftOf(third));
    await world.test.database.execute(Prisma.sql`
      UPDATE job_attempts SET ended_at = now() - interval '10 min' WHERE job_id = ${message.jobId}::uuid`);
    expect((await world.take(third, first)).attempt).toBe(3);
  });

  it('ends its job, which costs nothing, where no other worker of the pool can hold the models', async () => {
    const { poolId, workers } = await world.makePool(BOTH_BYTES, BOTH_BYTES - 1);
    const message = await world.dispatched(poolId, BOTH);
    const claimed = await world.take(message, workers[0] as ClaimingWorker);
    const moved = await world.execution.lifecycle.lackRoom(claimed, lack);
    expect(moved).toMatchObject({ status: 'failed', errorCode: 'input_unavailable', chargedMicros: 0n });
    const { error } = await world.job(message.jobId);
    expect(error).toMatchObject({ node_id: '4' });
    expect((error as { message: string }).message).toBe(
      `${lack.message} No other worker that this job can run on has room for them. This attempt was not charged. ` +
        'Use smaller models, or submit the job again once there is a worker with more room.',
    );
  });

  it('ends its job once each worker that might hold the models has found out that it has no room', async () => {
    const { poolId, workers } = await world.makePool(BOTH_BYTES, BOTH_BYTES);
    const [first, second] = workers as Workers;
    await world.execution.lifecycle.lackRoom(await world.take(await world.dispatched(poolId, BOTH), first), lack);
    const claimed = await world.take(await world.nextMessage(poolId), second);
    expect(await world.execution.lifecycle.lackRoom(claimed, lack)).toMatchObject({ status: 'failed' });
  });

  it.each<[string, Prisma.WorkerUpdateInput]>([
    ['does not say what it can hold, as one of an earlier version', { modelCacheBytes: null }],
    ['does not say so while it starts', { modelCacheBytes: null, state: 'starting' }],
  ])('is tried again, as often as attempts may be, while another worker %s', async (_what, facts) => {
    const { poolId, workers } = await world.makePool(BASE_BYTES, null);
    const [first, other] = workers as Workers;
    await world.change(other, facts);
    let message = await world.dispatched(poolId, BOTH);
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
      const moved = await world.execution.lifecycle.lackRoom(await world.take(message, first), lack);
      expect(moved).toMatchObject({ status: 'running' });
      message = await world.nextMessage(poolId);
      expect(message.attempt).toBe(attempt + 1);
    }
    const last = await world.execution.lifecycle.lackRoom(await world.take(message, first), lack);
    expect(last).toMatchObject({ status: 'failed', errorCode: 'input_unavailable', chargedMicros: 0n });
    const row = await findAttempts(world.test.database, cloudScope(world.accountId), message.jobId);
    expect(row && describeAttempts(row)[0]).toMatchObject({
      outcome: 'lost',
      charge: 'not_charged',
      error: { code: 'input_unavailable', message: lack.message },
    });
  });

  it('is tried again where the lack passes, by any worker, and ends its job without a word of smaller models', async () => {
    const { poolId, workers } = await world.makePool(BOTH_BYTES);
    const [worker] = workers as [ClaimingWorker];
    const passing = { ...lack, isPassing: true };
    let message = await world.dispatched(poolId, BOTH);
    for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
      await world.execution.lifecycle.lackRoom(await world.take(message, worker), passing);
      message = await world.nextMessage(poolId);
    }
    const last = await world.execution.lifecycle.lackRoom(await world.take(message, worker), passing);
    expect(last).toMatchObject({ status: 'failed', errorCode: 'input_unavailable' });
    const { error } = await world.job(message.jobId);
    expect((error as { message: string }).message).not.toContain('smaller models');
  });

  it('goes to another worker where the lack passes and that has room, which costs none of the attempts', async () => {
    const { poolId, workers } = await world.makePool(BOTH_BYTES, BOTH_BYTES);
    const [first] = workers as Workers;
    const message = await world.dispatched(poolId, BOTH);
    const { maxAttempts } = await world.job(message.jobId);
    await world.execution.lifecycle.lackRoom(await world.take(message, first), { ...lack, isPassing: true });
    expect(await world.job(message.jobId)).toMatchObject({ maxAttempts: maxAttempts + 1 });
  });

  it('changes nothing with a lease that was lost', async () => {
    const { poolId, workers } = await world.makePool(BOTH_BYTES, BOTH_BYTES);
    const message = await world.dispatched(poolId, BOTH);
    const claimed = await world.take(message, workers[0] as ClaimingWorker);
    expect(await world.execution.lifecycle.lackRoom({ ...claimed, leaseToken: newId() }, lack)).toBeNull();
    expect(await world.job(message.jobId)).toMatchObject({ status: 'running', delivery: 'leased', attempt: 1 });
  });
});
