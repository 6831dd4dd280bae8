import { Prisma } from '@prisma/client';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { JobErasureStore } from '../erasure';
import { BatchWorld } from '../fixtures/batch-world';
import { JobWorld, cloudScope, endingOf } from '../fixtures/job-world';
import { SweepExpiredJobsLoop } from '../lifecycle';
import type { BatchRecord } from './batch';
import { presentBatch } from './batch.presenter';
import { BatchStreams, type BatchStreamItem } from './batch-streams';
import { CompleteBatchesLoop } from './complete-batches.loop';

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

const find = (id: string): Promise<BatchRecord | null> =>
  world.store.find(test.database, cloudScope(world.accountId), id);
const shown = async (id: string): Promise<Record<string, unknown>> => {
  const { status, progress, completed_at, counts } = presentBatch({ prefix: '' }, (await find(id)) as BatchRecord);
  return { status, progress, completedAt: completed_at, jobs: Object.values(counts).reduce((sum, n) => sum + n, 0) };
};
const submit = async (metadata: Record<string, string>[]): Promise<BatchRecord> => {
  const body = Buffer.from(JSON.stringify({ jobs: metadata.map((labels) => ({ metadata: labels })) }));
  return (await world.submissions().submit({ ...world.submission(metadata.length), body })).batch;
};
const endNext = async (how: 'succeeded' | 'node_failed' = 'succeeded'): Promise<string> => {
  const { jobId, ...fence } = await jobs.start(world);
  await jobs.end({ jobId, ...fence }, endingOf(how));
  return jobId;
};
const recordEnds = (): Promise<number> => new CompleteBatchesLoop(test.database).runOnce();
const erase = (...jobIds: string[]): Promise<unknown> =>
  test.database.transaction((tx) => new JobErasureStore().delete(tx, world.accountId, jobIds));

/** The jobs of a batch are past their retention, and deleted. */
async function sweepJobsOf(id: string): Promise<void> {
  await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`
      UPDATE jobs SET deadline_at = now() - interval '2 h', expires_at = now() - interval '1 h' WHERE batch_id = ${id}::uuid`);
  });
  expect(await new SweepExpiredJobsLoop(test.database).runOnce()).toBeGreaterThan(0);
  expect(await world.left()).toMatchObject({ jobs: 0 });
}

/** Everything that a stream of the batch sends until it ends by itself. */
async function streamed(id: string): Promise<BatchStreamItem[]> {
  const items: BatchStreamItem[] = [];
  const streams = new BatchStreams(world, { leastMs: 5, mostMs: 20 });
  const limit = AbortSignal.timeout(5_000);
  for await (const item of streams.open(cloudScope(world.accountId), id, limit)) items.push(item);
  expect(limit.aborted).toBe(false);
  return items;
}

it('a completed batch stays completed after its jobs are gone, with the time of its end', async () => {
  const { id } = await submit([{}, {}]);
  await endNext();
  await endNext('node_failed');
  expect(await recordEnds()).toBe(1);
  const before = await shown(id);
  expect(before).toMatchObject({ status: 'completed', progress: 1, jobs: 2 });
  await sweepJobsOf(id);
  expect(await shown(id)).toEqual({ ...before, jobs: 0 });
  expect(await streamed(id)).toEqual([expect.objectContaining({ kind: 'status' })]);
});

it('a batch whose jobs went before its end was recorded completes when it is', async () => {
  const { id } = await submit([{}]);
  await endNext();
  await sweepJobsOf(id);
  await recordEnds();
  expect(await shown(id)).toMatchObject({ status: 'completed', progress: 1, jobs: 0 });
});

it('a job that is erased counts as ended: progress never falls, and the time of the end stays', async () => {
  const { id } = await submit([{}, {}, {}]);
  const first = await endNext();
  await endNext();
  await erase(first);
  expect(await shown(id)).toMatchObject({ status: 'active', progress: 2 / 3, jobs: 2 });
  const last = await endNext();
  await recordEnds();
  const before = await shown(id);
  expect(before).toMatchObject({ status: 'completed', progress: 1, jobs: 2 });
  await erase(last);
  expect(await shown(id)).toEqual({ ...before, jobs: 1 });
});

it('a batch of which only a job remains whose place was given up is completed, for readers and streams', async () => {
  const { id } = await submit([{}]);
  await endNext('node_failed');
  await recordEnds();
  await world.retries().retry(world.retry(id));
  const second = await endNext();
  await erase(second);
  await recordEnds();
  expect(await world.left()).toMatchObject({ batches: 1, jobs: 1 });
  expect(await shown(id)).toMatchObject({ status: 'completed', progress: 1, jobs: 0 });
  expect(await streamed(id)).toEqual([expect.objectContaining({ kind: 'status' })]);
});
