import { Prisma } from '@prisma/client';
import { Refusal } from '@millrace/contracts';
import { createTestDatabase, eventually, type TestDatabase } from '@millrace/testing';
import { BatchWorld } from '../fixtures/batch-world';
import { JobWorld, cloudScope, endingOf } from '../fixtures/job-world';
import { BatchStreams, type BatchStreamItem } from './batch-streams';

const TIMING = { leastMs: 5, mostMs: 20 };

let test: TestDatabase;
let jobs: JobWorld;
let world: BatchWorld;
let id: string;
let stop: AbortController;
let items: BatchStreamItem[];
let ending: Promise<void>;
beforeAll(async () => {
  test = await createTestDatabase();
  jobs = new JobWorld(test);
});
beforeEach(async () => {
  world = await BatchWorld.open(test);
  ({
    batch: { id },
  } = await world.submissions().submit(world.submission(3)));
  items = [];
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await ending;
});
afterAll(() => test.drop());

/** @param broken readings that fail are made again. */
function streams(broken: () => boolean = () => false): BatchStreams {
  const read: BatchWorld['follow'] = async (...asked) => {
    if (broken()) throw new Error('the database is away');
    return world.follow(...asked);
  };
  return new BatchStreams({ follow: read }, TIMING);
}
function follow(stream: BatchStreams): void {
  ending = (async () => {
    for await (const item of stream.open(cloudScope(world.accountId), id, stop.signal)) items.push(item);
  })();
}
const endNext = async (how: 'succeeded' | 'node_failed' = 'succeeded'): Promise<void> => {
  await jobs.end(await jobs.start(world), endingOf(how));
};
const seen = (count: number, kind: BatchStreamItem['kind']): Promise<true> =>
  eventually(`${count} items of kind ${kind}`, () => {
    return items.filter((item) => item.kind === kind).length >= count ? true : null;
  });
const indexes = (): number[] => items.flatMap((item) => (item.kind === 'job' ? [item.job.index] : []));

it('a stream has the batch first, then each job that ends once, and the end of the batch last', async () => {
  await endNext();
  follow(streams());
  await seen(1, 'status');
  await endNext('node_failed');
  await seen(1, 'job');
  await seen(1, 'progress');
  await endNext();
  await ending;
  expect(indexes()).toEqual([1, 2]);
  expect(items[0]).toMatchObject({ kind: 'status', batch: { ended: 1, completedAt: null } });
  expect(items.at(-1)).toMatchObject({ kind: 'status', batch: { ended: 3, counts: { succeeded: 2, failed: 1 } } });
});

it('a job whose end is committed after one that ended later is sent, too', async () => {
  follow(streams());
  await seen(1, 'status');
  await endNext();
  await seen(1, 'job');
  const { jobId, ...fence } = await jobs.start(world);
  await test.database.transaction(async (tx) => {
    await jobs.end({ jobId, ...fence }, endingOf('succeeded'), tx);
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(
      Prisma.sql`UPDATE jobs SET completed_at = completed_at - interval '14 s' WHERE id = ${jobId}::uuid`,
    );
  });
  await seen(2, 'job');
  expect(indexes()).toEqual([0, 1]);
});

it('a stream goes on after readings that fail, and ends when the batch can no longer be read', async () => {
  let broken = false;
  follow(streams(() => broken));
  await seen(1, 'status');
  broken = true;
  await endNext();
  broken = false;
  await seen(1, 'job');
  await test.database.execute(
    Prisma.sql`UPDATE batches SET expires_at = now() - interval '1 s' WHERE id = ${id}::uuid`,
  );
  await ending;
  expect(indexes()).toEqual([0]);
});

it('the stream of a batch of another account is refused', async () => {
  ending = Promise.resolve();
  const other = await BatchWorld.open(test);
  const opened = streams().open(cloudScope(other.accountId), id, stop.signal).next();
  await expect(opened).rejects.toBeInstanceOf(Refusal);
});

it('a stream of a batch that has ended is its status alone', async () => {
  for (let ends = 0; ends < 3; ends += 1) await endNext();
  follow(streams());
  await ending;
  expect(items).toEqual([expect.objectContaining({ kind: 'status' })]);
});
