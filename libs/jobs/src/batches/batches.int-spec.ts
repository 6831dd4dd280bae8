import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { BatchWorld } from '../fixtures/batch-world';
import { addModel } from '../fixtures/models';
import { cloudScope } from '../fixtures/job-world';
import { nodesOf, type PlanNode } from '../fixtures/plans';
import { Lifecycle } from '../lifecycle';
import { CancelBatchesLoop } from './cancel-batches.loop';
import { SweepExpiredBatchesLoop } from './sweep-expired-batches.loop';

/** More than one statement records. */
const JOBS = 300;

let test: TestDatabase;
let world: BatchWorld;
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(async () => {
  world = await BatchWorld.open(test);
});
afterAll(() => test.drop());

function lifecycle(): Lifecycle {
  const events = { moved: () => undefined, lastProgress: () => Promise.resolve(null) };
  return new Lifecycle(test.database, events, () => undefined, world.metrics, world.settings);
}

it('a batch is recorded with all its jobs, holds and places', async () => {
  const { batch, isRepeat } = await world.submissions().submit(world.submission(JOBS));
  expect([isRepeat, batch.jobCount, batch.counts, batch.ended]).toEqual([false, JOBS, { queued: JOBS }, 0]);
  expect(await world.left()).toEqual({ batches: 1, jobs: JOBS, holds: JOBS, waiting: JOBS, held: JOBS });
});

it('nothing is left of a batch whose recording breaks off', async () => {
  let calls = 0;
  const breaking = world.writing(async (...args) => {
    calls += 1;
    if (calls === 2) throw new Error('the process dies here');
    return world.jobs.write(...args);
  });
  await expect(world.submissions(breaking).submit(world.submission(JOBS, 'a-key'))).rejects.toThrow(
    'the process dies here',
  );
  expect(await world.left()).toEqual({ batches: 0, jobs: 0, holds: 0, waiting: 0, held: 0 });
  expect((await world.submissions().submit(world.submission(JOBS, 'a-key'))).isRepeat).toBe(false);
});

it.each([
  ['its turn comes', 1],
  ['it may be examined', 2],
  ['it has been examined', 3],
])('nothing is recorded of a batch whose sender has no access any more when %s', async (_when, nth) => {
  const submission = { ...world.submission(JOBS), sender: world.senderUntil(nth) };
  await expect(world.submissions().submit(submission)).rejects.toMatchObject({ code: 'unauthorized' });
  expect(await world.left()).toMatchObject({ batches: 0, jobs: 0 });
});

it('of batches that arrive at once in several processes as many are recorded as the credits cover, each whole', async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 4 }, () => world.submissions().submit(world.submission(JOBS))),
  );
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  expect(refused).toEqual([expect.objectContaining({ code: 'insufficient_credits' })]);
  expect(await world.left()).toEqual({
    batches: 3,
    jobs: 3 * JOBS,
    holds: 3 * JOBS,
    waiting: 3 * JOBS,
    held: 3 * JOBS,
  });
});

it('of requests with one key in several processes one makes the batch, and all are answered with it', async () => {
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => world.submissions().submit(world.submission(JOBS, 'the-same'))),
  );
  expect(answers.filter(({ isRepeat }) => !isRepeat)).toHaveLength(1);
  expect(new Set(answers.map(({ batch }) => batch.id)).size).toBe(1);
  expect(await world.left()).toMatchObject({ batches: 1, jobs: JOBS });
});

it('the loop cancels what a request did not get to, and ends', async () => {
  const { batch } = await world.submissions().submit(world.submission(JOBS));
  const scope = cloudScope(world.accountId);
  expect(await world.store.requestCancel(test.database, scope, batch.id)).toBe(true);
  const loop = new CancelBatchesLoop(test.database, lifecycle());
  while ((await loop.runOnce()) > 0);
  const canceled = await world.store.find(test.database, scope, batch.id);
  expect(canceled).toMatchObject({ counts: { canceled: JOBS }, ended: JOBS, chargedMicros: 0 });
  expect(canceled?.completedAt).not.toBeNull();
  expect(await world.left()).toMatchObject({ waiting: 0, held: 0 });
  const { canceling } = await test.database.models.batch.findUniqueOrThrow({ where: { id: batch.id } });
  expect(canceling).toBe(false);
});

it('the loop ends a batch whose jobs are older than those that another account goes on adding, within two rounds', async () => {
  const older = await world.submissions().submit(world.submission(1));
  const other = await BatchWorld.open(test);
  const addCanceled = async (jobs: number): Promise<void> => {
    const { batch } = await other.submissions().submit(other.submission(jobs));
    await other.store.requestCancel(test.database, cloudScope(other.accountId), batch.id);
  };
  const loop = new CancelBatchesLoop(test.database, lifecycle());
  const PAGE = 200;
  await addCanceled(2 * PAGE);
  await loop.runOnce();
  await world.store.requestCancel(test.database, cloudScope(world.accountId), older.batch.id);
  // The rest of the round, the empty page that ends it, and the first of the next.
  for (let runs = 0; runs < 3; runs += 1) {
    await addCanceled(PAGE);
    await loop.runOnce();
  }
  expect(await world.store.find(test.database, cloudScope(world.accountId), older.batch.id)).toMatchObject({
    counts: { canceled: 1 },
  });
});

it('a batch past its retention is not found, and is deleted after its jobs', async () => {
  const { batch } = await world.submissions().submit(world.submission(2));
  await test.database.execute(
    Prisma.sql`UPDATE batches SET expires_at = now() - interval '1 s' WHERE id = ${batch.id}::uuid`,
  );
  const loop = new SweepExpiredBatchesLoop(test.database);
  await loop.runOnce();
  expect(await world.left()).toMatchObject({ batches: 1 });
  expect(await world.store.find(test.database, cloudScope(world.accountId), batch.id)).toBeNull();
  await test.database.execute(Prisma.sql`DELETE FROM jobs WHERE batch_id = ${batch.id}::uuid`);
  await loop.runOnce();
  expect(await world.left()).toMatchObject({ batches: 0 });
});

it('of why jobs were refused a batch records what it shows, the first of it', async () => {
  const message = 'é'.repeat(1_000);
  const refused = Array.from({ length: 100 }, (_, index) => ({
    index,
    code: 'spend_cap',
    message,
    details: { index },
  }));
  const id = newId();
  await world.store.create(test.database, {
    ...{ ...cloudScope(world.accountId), id, idempotencyKey: null, requestHash: Buffer.alloc(32) },
    ...{ itemCount: 101, jobCount: 1, refused, retentionSeconds: 60 },
  });
  const recorded = await test.database.models.batch.findUniqueOrThrow({ where: { id } });
  const bytes = Buffer.byteLength(JSON.stringify(recorded.refused));
  expect([bytes > 60_000, bytes < 65_536]).toEqual([true, true]);
  const shown = await world.store.find(test.database, cloudScope(world.accountId), id);
  expect(shown?.refused).toEqual(recorded.refused);
  expect(shown?.refused).toEqual(refused.slice(0, shown?.refused.length));
});

it('the counts of a batch are read by its index', async () => {
  await world.submissions().submit(world.submission(JOBS));
  await test.database.execute(Prisma.sql`ANALYZE jobs`);
  const [row] = await test.database.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    Prisma.sql`EXPLAIN (FORMAT JSON) ${world.store.findSql(cloudScope(world.accountId), newId())}`,
  );
  const plan = row?.['QUERY PLAN'][0]?.Plan;
  const reads = (plan === undefined ? [] : nodesOf(plan)).flatMap((node) => node['Index Name'] ?? []);
  expect(reads.filter((index) => index.startsWith('jobs'))).toEqual(['jobs_batch_key']);
});

describe('a batch of which one job reads an asset that is deleted after it was looked up', () => {
  beforeEach(async () => {
    const asset = newId();
    const row = { accountId: world.accountId, hash: `blake3:${'0'.repeat(64)}`, sizeBytes: 1n };
    await test.database.models.blob.create({ data: row });
    await test.database.models.asset.create({ data: { id: asset, contentType: 'a/b', ...row } });
    world.asset = asset;
    world.lookUpAssets = async () => {
      const { count } = await test.database.models.asset.deleteMany({ where: { id: asset } });
      return count === 0 ? [] : [asset];
    };
  });

  it('is refused as one that reads none, with the place', async () => {
    const references = [{ node_id: '1', field: 'image', asset_id: world.asset }];
    await expect(world.submissions().submit(world.submission(3))).rejects.toMatchObject({
      code: 'batch_refused',
      details: { refused: 1, items: [{ index: 0, code: 'missing_asset', details: { references } }] },
    });
    expect(await world.left()).toMatchObject({ batches: 0, jobs: 0 });
  });

  it('is recorded without that job where each is accepted by itself', async () => {
    const body = Buffer.from(JSON.stringify({ jobs: [{}, {}, {}], admission: 'each' }));
    const { batch } = await world.submissions().submit({ ...world.submission(3), body });
    expect(batch).toMatchObject({ jobCount: 2, refused: [{ index: 0, code: 'missing_asset' }] });
    expect(await world.left()).toMatchObject({ batches: 1, jobs: 2 });
  });
});

describe('a batch of which one job names a model that is deleted after it was looked up', () => {
  const NAME = 'mine.safetensors';
  let world: BatchWorld;
  let looks: number;
  beforeEach(async () => {
    world = await BatchWorld.open(test);
    looks = 0;
    await addModel(test.database, world.accountId, NAME);
    world.model = NAME;
    world.lookUp = async () => {
      looks += 1;
      if (looks > 1) return [];
      await test.database.models.libraryModel.deleteMany({ where: { accountId: world.accountId } });
      return [NAME];
    };
  });

  it('is refused as one that names none, and counts that once', async () => {
    const refused = world.submissions().submit(world.submission(3));
    await expect(refused).rejects.toMatchObject({ code: 'batch_refused', details: { refused: 1 } });
    await expect(refused).rejects.toThrow(/Job 0: .*The model library has none of this name/);
    expect(looks).toBe(2);
    expect(await world.left()).toMatchObject({ batches: 0, jobs: 0 });
  });

  it('is recorded without that job where each is accepted by itself', async () => {
    const body = Buffer.from(JSON.stringify({ jobs: [{}, {}, {}], admission: 'each' }));
    const { batch } = await world.submissions().submit({ ...world.submission(3), body });
    expect(batch).toMatchObject({ jobCount: 2, refused: [{ index: 0, code: 'invalid_workflow' }] });
    expect(await world.left()).toMatchObject({ batches: 1, jobs: 2 });
  });
});
