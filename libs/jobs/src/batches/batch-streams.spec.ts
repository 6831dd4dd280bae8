import { noBatch } from './batches.service';
import type { BatchRecord } from './batch';
import type { EndedJob, FollowedBatch } from './batch-follow.store';
import { BatchStreams, type BatchStreamItem } from './batch-streams';
import type { JobScope } from '../state';

const SCOPE: JobScope = { accountId: 'an-account', surface: 'cloud', deploymentId: null, labels: null };
const ID = 'a-batch';
const OVERLAP_MS = 10_000;
const SECOND = 1_000;

/** A batch whose jobs end when the test says so. Readings are counted, and see what there is when they begin. */
class MovingBatch {
  readings = 0;
  isGone = false;
  private readonly jobs: EndedJob[] = [];
  private completedAt: Date | null = null;

  end(index: number): void {
    this.jobs.push({ jobId: `job-${index}`, index, status: 'succeeded', completedAt: new Date() });
  }

  complete(): void {
    this.completedAt = new Date();
  }

  readonly follow = async (_: JobScope, id: string, since: Date | null): Promise<FollowedBatch> => {
    this.readings += 1;
    if (this.isGone) throw noBatch(id);
    const at = new Date();
    const from = new Date((since ?? at).getTime() - OVERLAP_MS);
    const batch = { counts: { succeeded: this.jobs.length }, retries: 0, completedAt: this.completedAt } as BatchRecord;
    const jobs = this.jobs.filter(({ completedAt }) => completedAt > from);
    return Promise.resolve({ batch, at, from, jobs });
  };
}

let batch: MovingBatch;
let streams: BatchStreams;
let stops: AbortController[];
beforeEach(() => {
  jest.useFakeTimers();
  batch = new MovingBatch();
  streams = new BatchStreams(batch);
  stops = [];
});
afterEach(() => {
  for (const stop of stops) stop.abort();
  jest.useRealTimers();
});

/** What a stream sends, as it comes. */
function follow(): { items: BatchStreamItem[]; over: Promise<void>; stop: AbortController } {
  const items: BatchStreamItem[] = [];
  const stop = new AbortController();
  stops.push(stop);
  const over = (async () => {
    for await (const item of streams.open(SCOPE, ID, stop.signal)) items.push(item);
  })();
  return { items, over, stop };
}
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
const placesIn = (items: readonly BatchStreamItem[]): number[] =>
  items.flatMap((item) => (item.kind === 'job' ? [item.job.index] : []));

it('a hundred streams of a batch take no more readings than one, and each has every end', async () => {
  const all = Array.from({ length: 100 }, () => follow());
  await pass(0);
  expect(batch.readings).toBeLessThanOrEqual(2);
  const opened = batch.readings;
  for (let seconds = 0; seconds < 10; seconds += 1) {
    batch.end(seconds);
    await pass(SECOND);
  }
  expect(batch.readings - opened).toBeLessThanOrEqual(10);
  batch.complete();
  await pass(2 * SECOND);
  await Promise.all(all.map(({ over }) => over));
  for (const { items } of all) {
    expect(placesIn(items)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect([items[0]?.kind, items.at(-1)]).toEqual(['status', expect.objectContaining({ kind: 'status' })]);
  }
});

it('a stream that joins others has what ends after its first status, and nothing that ended before', async () => {
  const first = follow();
  await pass(0);
  batch.end(0);
  await pass(SECOND / 2);
  const second = follow();
  await pass(0);
  batch.end(1);
  await pass(2 * SECOND);
  expect([placesIn(first.items), placesIn(second.items)]).toEqual([[0, 1], [1]]);
});

it('a batch that nobody follows any more is not read', async () => {
  const [one, other] = [follow(), follow()];
  await pass(3 * SECOND);
  one.stop.abort();
  const { readings } = batch;
  await pass(20 * SECOND);
  expect(batch.readings).toBeGreaterThan(readings);
  other.stop.abort();
  await Promise.all([one.over, other.over]);
  const last = batch.readings;
  await pass(60 * SECOND);
  expect(batch.readings).toBe(last);
});

it('streams end when the batch can no longer be read, and a later one is refused', async () => {
  const { over } = follow();
  await pass(0);
  batch.isGone = true;
  await pass(SECOND);
  await over;
  await expect(follow().over).rejects.toMatchObject({ code: 'not_found' });
});
