import { AsyncLocalStorage } from 'node:async_hooks';
import { Prisma } from '@prisma/client';
import { Refusal, newId, type JobStatus } from '@millrace/contracts';
import { isLockTimeout } from '@millrace/database';
import { createTestDatabase, eventually, type TestDatabase } from '@millrace/testing';
import { BatchWorld } from '../fixtures/batch-world';
import { JobWorld, cloudScope, endingOf } from '../fixtures/job-world';
import { Lifecycle } from '../lifecycle';
import type { BatchRecord } from './batch';
import { recordEnds } from './batch-end.store';
import type { BatchRetry } from './batch-retries.service';
import { BatchRetryStore } from './batch-retry.store';
import { CompleteBatchesLoop } from './complete-batches.loop';
import { WebhookBatches } from './webhook-batches';

/** How the jobs of a batch end, in its order. */
type Ends = readonly ('succeeded' | 'failed' | 'canceled')[];

let test: TestDatabase;
let jobs: JobWorld;
let world: BatchWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  jobs = new JobWorld(test);
});
beforeEach(async () => {
  world = await BatchWorld.open(test);
});
afterAll(() => test.drop());

function lifecycle(): Lifecycle {
  const events = { moved: () => undefined, lastProgress: () => Promise.resolve(null) };
  return new Lifecycle(test.database, events, () => undefined, world.metrics, world.settings);
}
const readBatch = async (id: string): Promise<BatchRecord> =>
  (await world.store.find(test.database, cloudScope(world.accountId), id)) as BatchRecord;
const placesOf = (id: string): Promise<{ jobId: string; index: number }[]> =>
  world.store.places(test.database, id, { after: -1, limit: 1_000, status: null });
const retry = (id: string, asked: Partial<BatchRetry> = {}): Promise<number> =>
  world
    .retries()
    .retry(world.retry(id, asked))
    .then(({ jobs: recorded }) => recorded);
const codeOf = (error: unknown): unknown => (error instanceof Refusal ? error.code : error);

/** The next jobs of the pool end so. */
async function end(ends: Ends): Promise<void> {
  for (const how of ends) {
    const { jobId, ...fence } = await jobs.start(world);
    if (how === 'canceled') await lifecycle().cancel(cloudScope(world.accountId), jobId);
    await jobs.end({ jobId, ...fence }, endingOf(how === 'failed' ? 'node_failed' : 'succeeded'));
  }
}
async function batchOf(ends: Ends): Promise<string> {
  const { batch } = await world.submissions().submit(world.submission(ends.length));
  await end(ends);
  return batch.id;
}
async function endpoint(): Promise<void> {
  const at = { url: 'https://receiver.example.com/', origin: 'https://api.example.com', accountId: world.accountId };
  await test.database.models.webhookEndpoint.create({
    data: { id: newId(), eventTypes: ['batch.completed'], ...at },
  });
}
const messagesOf = (batchId: string): Promise<number> =>
  test.database.models.webhookMessage.count({ where: { batchId, type: 'batch.completed' } });
const countsOf = async (id: string): Promise<Partial<Record<JobStatus, number>>> => (await readBatch(id)).counts;

/** Statements that wait for a lock, at least so many. */
const waiting = (count: number, text: string): Promise<true> =>
  eventually(`${count} statements to wait for the batch`, async () => {
    const [row] = await test.database.rows<{ waits: number }>(Prisma.sql`
      SELECT count(*)::int AS waits FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        AND query LIKE ${`%${text}%`}`);
    return (row?.waits ?? 0) >= count ? true : null;
  });

describe('failed jobs of a batch that are tried again', () => {
  it('are new jobs with the same graphs in their places, and the others stay', async () => {
    const id = await batchOf(['succeeded', 'failed', 'canceled', 'failed']);
    const before = await placesOf(id);
    expect(await retry(id)).toBe(2);
    const after = await placesOf(id);
    expect(after.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    const isNew = after.map(({ jobId }, at) => jobId !== before[at]?.jobId);
    expect(isNew).toEqual([false, true, false, true]);
    expect(await readBatch(id)).toMatchObject({
      counts: { succeeded: 1, queued: 2, canceled: 1 },
      jobCount: 4,
      ended: 2,
      retries: 1,
      completedAt: null,
    });
    const graphs = await test.database.models.jobGraph.findMany({
      where: { jobId: { in: [before[1]?.jobId ?? '', after[1]?.jobId ?? ''] } },
    });
    expect(graphs.map(({ workflow }) => workflow)).toEqual(['{"index":1}', '{"index":1}']);
    expect(await world.left()).toMatchObject({ jobs: 6, holds: 6, waiting: 2, held: 2 });
  });

  it.each([
    ['its turn comes', 1],
    ['they may be examined', 2],
    ['they have been examined', 3],
  ])('stay as they are where the sender has no access any more when %s', async (_when, nth) => {
    const id = await batchOf(['failed']);
    await expect(retry(id, { sender: world.senderUntil(nth) })).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await readBatch(id)).toMatchObject({ counts: { failed: 1 }, retries: 0 });
  });

  it('leave what they cost with the batch, and can be read by their ids', async () => {
    const id = await batchOf(['failed']);
    const [first] = await placesOf(id);
    await test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
      await tx.execute(Prisma.sql`UPDATE jobs SET charged_micros = 7 WHERE id = ${first?.jobId ?? ''}::uuid`);
    });
    await retry(id);
    await end(['succeeded']);
    expect(await readBatch(id)).toMatchObject({ counts: { succeeded: 1 }, ended: 1, chargedMicros: 7 });
    const earlier = await test.database.models.job.findUniqueOrThrow({ where: { id: first?.jobId ?? '' } });
    expect(earlier).toMatchObject({ status: 'failed', batchId: id, batchIndex: null });
  });

  it('can be those that were canceled, where that is asked for', async () => {
    const id = await batchOf(['failed', 'canceled']);
    expect(await retry(id, { statuses: ['canceled'] })).toBe(1);
    expect(await countsOf(id)).toEqual({ failed: 1, queued: 1 });
  });

  it('can be read as long as the batch, and no longer', async () => {
    const id = await batchOf(['failed']);
    await test.database.execute(Prisma.sql`
      UPDATE batches SET expires_at = now() + interval '1 h' WHERE id = ${id}::uuid`);
    await retry(id);
    const [{ jobId } = { jobId: '' }] = await placesOf(id);
    const { expiresAt } = await test.database.models.job.findUniqueOrThrow({ where: { id: jobId } });
    expect(Math.abs(expiresAt.getTime() - (await readBatch(id)).expiresAt.getTime())).toBeLessThanOrEqual(1);
  });

  it('are tried again once by requests that come together, with and without a key', async () => {
    const id = await batchOf(['failed', 'failed', 'failed']);
    const key = { idempotencyKey: 'the-same' };
    const recorded = await Promise.all([retry(id, key), retry(id), retry(id, key), retry(id)]);
    expect(recorded.reduce((sum, count) => sum + count, 0)).toBe(3);
    expect(await countsOf(id)).toEqual({ queued: 3 });
  });

  it('are tried again once by requests of which one waits for the other', async () => {
    const id = await batchOf(['failed', 'failed']);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let hold = (): void => undefined;
    const held = new Promise<void>((resolve) => (hold = resolve));
    const late = world.writing(async (...args) => {
      hold();
      await released;
      return world.jobs.write(...args);
    });
    const first = world.retries(late).retry(world.retry(id));
    await held;
    const second = retry(id);
    await waiting(1, 'SET retries = b.retries');
    release();
    expect([(await first).jobs, await second]).toEqual([2, 0]);
    expect(await readBatch(id)).toMatchObject({ counts: { queued: 2 }, retries: 1 });
  });

  it('are not tried again by a repeat with the key, also when they failed once more', async () => {
    const id = await batchOf(['failed']);
    const key = { idempotencyKey: 'a-key' };
    expect(await retry(id, key)).toBe(1);
    await end(['failed']);
    expect(await retry(id, key)).toBe(0);
    expect(await countsOf(id)).toEqual({ failed: 1 });
    const other = await retry(id, { ...key, statuses: ['canceled'] }).catch(codeOf);
    expect(other).toBe('idempotency_key_reuse');
    expect(await retry(id)).toBe(1);
  });

  it('are not tried again with one more key than a batch may have, and the refusal says what to do', async () => {
    const id = await batchOf(['failed']);
    expect(await retry(id, { statuses: ['canceled'], idempotencyKey: 'kept' })).toBe(0);
    await test.database.execute(Prisma.sql`
      INSERT INTO batch_retries (batch_id, idempotency_key, request_hash, job_count)
      SELECT ${id}::uuid, 'key ' || n, '\\x00'::bytea, 0 FROM generate_series(2, 999) n`);
    expect(await retry(id, { statuses: ['canceled'], idempotencyKey: 'the last' })).toBe(0);
    const refused = retry(id, { idempotencyKey: 'one more' });
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_request',
      details: {
        fields: [{ field: 'Idempotency-Key', reason: expect.stringMatching(/1000 .* without a key/) as unknown }],
      },
    });
    expect(await test.database.models.batchRetry.count({ where: { batchId: id } })).toBe(1_000);
    expect(await retry(id, { statuses: ['canceled'], idempotencyKey: 'kept' })).toBe(0);
    expect(await retry(id)).toBe(1);
  });

  it('are all there or none when the recording breaks off', async () => {
    const ends = Array.from({ length: 3 }, () => 'failed' as const);
    const id = await batchOf(ends);
    const before = await placesOf(id);
    const dies = world.writing(() => Promise.reject(new Error('the process dies here')));
    const key = { idempotencyKey: 'a-key' };
    await expect(world.retries(dies).retry(world.retry(id, key))).rejects.toThrow('the process dies here');
    expect(await placesOf(id)).toEqual(before);
    expect(await readBatch(id)).toMatchObject({ counts: { failed: 3 }, retries: 0 });
    expect(await retry(id, key)).toBe(3);
  });

  it('are refused whole, or as many as there is room for', async () => {
    const id = await batchOf(['failed', 'failed', 'failed']);
    await test.database.execute(Prisma.sql`
      UPDATE balances SET available_micros = ${120_000} WHERE account_id = ${world.accountId}::uuid`);
    expect(await retry(id).catch(codeOf)).toBe('insufficient_credits');
    expect(await countsOf(id)).toEqual({ failed: 3 });
    expect(await retry(id, { admission: 'each' })).toBe(2);
    expect(await countsOf(id)).toEqual({ failed: 1, queued: 2 });
  });

  it('are refused by the spend limit of their batch where a job holds more by then, and the answer says so', async () => {
    const { batch } = await world.submissions().submit({ ...world.submission(1), spendLimitMicros: 60_000n });
    await end(['failed']);
    world.settings.holdMicros = 120_000;
    const refused = retry(batch.id);
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_request',
      status: 422,
      details: { spend_limit_micros: 60_000, required_micros: 120_000 },
    });
    await expect(refused).rejects.toThrow(/^The batch has a spend limit .* as a new batch/);
    expect(await countsOf(batch.id)).toEqual({ failed: 1 });
    world.settings.holdMicros = 60_000;
    expect(await retry(batch.id)).toBe(1);
  });

  it('are refused while the batch is being canceled, and of a batch of another account', async () => {
    const id = await batchOf(['failed']);
    await world.store.requestCancel(test.database, cloudScope(world.accountId), id);
    expect(await retry(id).catch(codeOf)).toBe('batch_busy');
    const other = await BatchWorld.open(test);
    expect(await other.retries().retry(other.retry(id)).catch(codeOf)).toBe('not_found');
    expect(await countsOf(id)).toEqual({ failed: 1 });
  });

  it('keep a request to cancel the batch waiting no longer than for a moment, with its connection', async () => {
    const id = await batchOf(['failed']);
    const scope = cloudScope(world.accountId);
    const beside = AsyncLocalStorage.snapshot();
    await test.database.transaction(async (tx) => {
      await new BatchRetryStore().reopen(tx, scope, id);
      const refused = await beside(() =>
        world.store.requestCancel(test.database, scope, id).catch((error: unknown) => error),
      );
      expect(isLockTimeout(refused)).toBe(true);
    }, 60_000);
    expect(await world.store.requestCancel(test.database, scope, id)).toBe(true);
  });

  it('come from more pages than one', async () => {
    const { batch } = await world.submissions().submit(world.submission(300));
    await world.store.requestCancel(test.database, cloudScope(world.accountId), batch.id);
    for (const { jobId } of await placesOf(batch.id)) await lifecycle().cancel(cloudScope(world.accountId), jobId);
    await test.database.execute(Prisma.sql`UPDATE batches SET canceling = false WHERE id = ${batch.id}::uuid`);
    expect(await retry(batch.id, { statuses: ['canceled'] })).toBe(300);
    expect((await placesOf(batch.id)).map(({ index }) => index)).toEqual(Array.from({ length: 300 }, (_, at) => at));
    expect(await countsOf(batch.id)).toEqual({ queued: 300 });
  });
});

it('a job that has ended gives up its place in a batch, and nothing else of it changes', async () => {
  const id = await batchOf(['failed']);
  const [{ jobId } = { jobId: '' }] = await placesOf(id);
  for (const change of [Prisma.sql`batch_index = NULL, priority = 1`, Prisma.sql`batch_index = 7`]) {
    const changed = test.database.execute(Prisma.sql`UPDATE jobs SET ${change} WHERE id = ${jobId}::uuid`);
    await expect(changed).rejects.toThrow('nothing leaves a terminal state');
  }
});

describe('the end of a batch', () => {
  it('is recorded once, with one message, when its last job has ended', async () => {
    await endpoint();
    const id = await batchOf(['succeeded']);
    const { batch: open } = await world.submissions().submit(world.submission(2));
    await end(['failed']);
    const loops = Array.from({ length: 3 }, () => new CompleteBatchesLoop(test.database));
    await Promise.all(loops.map((loop) => loop.runOnce()));
    await loops[0]?.runOnce();
    expect([await messagesOf(id), await messagesOf(open.id)]).toEqual([1, 0]);
    const { completedAt } = await test.database.models.batch.findUniqueOrThrow({ where: { id } });
    expect(completedAt).toEqual((await readBatch(id)).completedAt);
    await end(['succeeded']);
    await loops[0]?.runOnce();
    expect(await messagesOf(open.id)).toBe(1);
  });

  it('is recorded once by those that look at it at once', async () => {
    await endpoint();
    const ids = [await batchOf(['succeeded']), await batchOf(['succeeded'])];
    await Promise.all(Array.from({ length: 4 }, () => recordEnds(test.database, 10)));
    await recordEnds(test.database, 10);
    expect(await Promise.all(ids.map(messagesOf))).toEqual([1, 1]);
  });

  it('is recorded while the batch of another account is locked, whose end is recorded later', async () => {
    await endpoint();
    const locked = await batchOf(['succeeded']);
    world = await BatchWorld.open(test);
    await endpoint();
    const other = await batchOf(['succeeded']);
    let hold = (): void => undefined;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (hold = resolve));
    const released = new Promise<void>((resolve) => (release = resolve));
    const holding = test.database.transaction(async (tx) => {
      await tx.rows(Prisma.sql`SELECT id FROM batches WHERE id = ${locked}::uuid FOR UPDATE`);
      hold();
      await released;
    });
    await held;
    await recordEnds(test.database, 10);
    expect([await messagesOf(locked), await messagesOf(other)]).toEqual([0, 1]);
    release();
    await holding;
    await recordEnds(test.database, 10);
    expect([await messagesOf(locked), await messagesOf(other)]).toEqual([1, 1]);
  });

  it('is recorded again after a retry', async () => {
    await endpoint();
    const id = await batchOf(['failed']);
    const loop = new CompleteBatchesLoop(test.database);
    await loop.runOnce();
    await retry(id);
    await loop.runOnce();
    expect(await messagesOf(id)).toBe(1);
    await end(['succeeded']);
    await loop.runOnce();
    expect(await messagesOf(id)).toBe(2);
  });

  it('is not recorded while a retry records jobs of the batch', async () => {
    await endpoint();
    const id = await batchOf(['failed']);
    let hold = (): void => undefined;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (hold = resolve));
    const released = new Promise<void>((resolve) => (release = resolve));
    const late = world.writing(async (...args) => {
      hold();
      await released;
      return world.jobs.write(...args);
    });
    const retried = world.retries(late).retry(world.retry(id));
    await held;
    await recordEnds(test.database, 10);
    release();
    await retried;
    await recordEnds(test.database, 10);
    const { completedAt } = await test.database.models.batch.findUniqueOrThrow({ where: { id } });
    expect([completedAt, await messagesOf(id)]).toEqual([null, 0]);
  });

  it('is not shown to receivers once the batch has gone on: its next end has another message', async () => {
    await endpoint();
    const id = await batchOf(['failed']);
    const loop = new CompleteBatchesLoop(test.database);
    await loop.runOnce();
    await retry(id);
    const reader = new WebhookBatches(test.database, world.store);
    const read = (...ends: (number | null)[]): Promise<(object | null)[]> =>
      reader.read(
        ends.map((retries) => ({
          accountId: world.accountId,
          batchId: id,
          origin: 'https://api.example.com',
          retries,
        })),
      );
    // One that a version before recorded does not say which end it is of.
    expect(await read(0, null)).toEqual([null, expect.objectContaining({ status: 'active' })]);
    await end(['succeeded']);
    await loop.runOnce();
    expect(await read(0, 1)).toEqual([null, expect.objectContaining({ status: 'completed' })]);
    const messages = await test.database.models.webhookMessage.findMany({
      where: { batchId: id },
      orderBy: { id: 'asc' },
    });
    expect(messages.map(({ data }) => data)).toEqual([{ retries: 0 }, { retries: 1 }]);
  });

  it('is shown to receivers as a poll shows it, to its own account alone', async () => {
    const id = await batchOf(['succeeded', 'failed']);
    const reader = new WebhookBatches(test.database, world.store);
    const origin = 'https://api.example.com';
    const shown = await reader.read([
      { accountId: world.accountId, batchId: id, origin, retries: 0 },
      { accountId: newId(), batchId: id, origin, retries: 0 },
    ]);
    expect(shown).toEqual([
      expect.objectContaining({
        id,
        status: 'completed',
        urls: expect.objectContaining({ self: `/api/v2/batches/${id}` }) as unknown,
      }),
      null,
    ]);
  });
});
