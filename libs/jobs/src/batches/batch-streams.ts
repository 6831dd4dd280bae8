import { Refusal } from '@millrace/contracts';
import { CoalescedReads, InterruptibleSleep } from '../follow';
import { scopeText, type JobScope } from '../state';
import type { BatchRecord } from './batch';
import type { EndedJob, FollowedBatch } from './batch-follow.store';
import type { Batches } from './batches.service';

/** What a stream sends of a batch. */
export type BatchStreamItem =
  { kind: 'status'; batch: BatchRecord } | { kind: 'progress'; batch: BatchRecord } | { kind: 'job'; job: EndedJob };

export interface BatchStreamTiming {
  /** Between two readings of a batch in which jobs end. */
  leastMs: number;
  /** Between two readings of one in which nothing happens. */
  mostMs: number;
}

const TIMING: BatchStreamTiming = { leastMs: 1_000, mostMs: 5_000 };
/** A large batch is read less often: readings take a part of the time that is no larger than one in so many. */
const READING_SHARE = 20;
const SLOWER = 1.5;

/** What one stream has to send: what was read since its client last took something. */
class Follower {
  over = false;
  private opening: FollowedBatch | null = null;
  private early: FollowedBatch[] = [];
  private latest: BatchRecord | null = null;
  private jobs: EndedJob[] = [];
  /** When the jobs ended that were sent, by id. */
  private readonly taken = new Map<string, number>();

  constructor(readonly idle: InterruptibleSleep) {}

  /** What is in the first status is not sent again; readings that were made after it are. */
  begin(opening: FollowedBatch): void {
    this.opening = opening;
    this.takeFresh(opening);
    for (const reading of this.early.splice(0)) this.receive(reading);
  }

  receive(reading: FollowedBatch): void {
    if (this.opening === null) {
      this.early.push(reading);
      return;
    }
    if (reading.at < this.opening.at) return;
    const { from } = this.opening;
    this.jobs.push(...this.takeFresh(reading).filter(({ completedAt }) => completedAt > from));
    this.latest = reading.batch;
    this.idle.wake();
  }

  end(): void {
    this.over = true;
    this.idle.wake();
  }

  /** @returns the jobs that ended, each of them once, and the batch as it was read last; null: not again. */
  take(): { jobs: EndedJob[]; batch: BatchRecord | null } {
    const batch = this.latest;
    this.latest = null;
    return { jobs: this.jobs.splice(0), batch };
  }

  private takeFresh({ jobs, from }: FollowedBatch): EndedJob[] {
    const fresh = jobs.filter(({ jobId }) => !this.taken.has(jobId));
    for (const { jobId, completedAt } of fresh) this.taken.set(jobId, completedAt.getTime());
    // Later readings look no further back.
    for (const [jobId, endedMs] of this.taken) if (endedMs < from.getTime()) this.taken.delete(jobId);
    return fresh;
  }
}

/** The readings of one batch, for all streams of it on this process. */
class BatchFeed {
  private readonly followers = new Set<Follower>();
  private readonly stop = new AbortController();
  private hasBegun = false;

  /** @param gone called when nobody follows any more, or the batch can no longer be read. */
  constructor(
    private readonly read: (since: Date) => Promise<FollowedBatch>,
    private readonly timing: BatchStreamTiming,
    private readonly gone: () => void,
  ) {}

  attach(follower: Follower): void {
    this.followers.add(follower);
  }

  detach(follower: Follower): void {
    this.followers.delete(follower);
    if (this.followers.size > 0) return;
    this.stop.abort();
    this.gone();
  }

  /** @param since of the first reading that one of them has made: the next goes on from it. */
  begin(since: Date): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    void this.run(since);
  }

  private async run(first: Date): Promise<void> {
    const idle = new InterruptibleSleep(this.stop.signal);
    let state = '';
    let since = first;
    let pauseMs = this.timing.leastMs;
    for (;;) {
      await idle.sleep(pauseMs);
      if (idle.aborted) break;
      const beganMs = performance.now();
      const reading = await this.next(since);
      if (reading === 'over') break;
      if (reading === null) continue;
      since = reading.at;
      for (const follower of this.followers) follower.receive(reading);
      const now = stateOf(reading.batch);
      pauseMs = this.pauseMs(pauseMs, performance.now() - beganMs, now !== state);
      state = now;
    }
    idle.close();
    this.gone();
    for (const follower of this.followers) follower.end();
  }

  /** @returns null when it is to be read again. */
  private async next(since: Date): Promise<FollowedBatch | 'over' | null> {
    try {
      return await this.read(since);
    } catch (error) {
      // A refusal: the batch has expired. Any other error passes, and the next reading has it all.
      return error instanceof Refusal ? 'over' : null;
    }
  }

  private pauseMs(lastMs: number, readingMs: number, hadNews: boolean): number {
    const { leastMs, mostMs } = this.timing;
    const pauseMs = hadNews ? leastMs : lastMs * SLOWER;
    return Math.min(mostMs, Math.max(pauseMs, readingMs * READING_SHARE));
  }
}

/**
 * Streams of what happens to a batch, from readings alone: its jobs are too many to subscribe to each. All streams of a batch on this
 * process share them. The latest counts are sent. Of jobs that end, each is sent once; what was missed is in the list of jobs.
 */
export class BatchStreams {
  private readonly openings = new CoalescedReads<FollowedBatch>();
  private readonly feeds = new Map<string, BatchFeed>();

  constructor(
    private readonly batches: Pick<Batches, 'follow'>,
    private readonly timing: BatchStreamTiming = TIMING,
  ) {}

  /**
   * Stream a batch until all its jobs have ended, or until `signal` aborts. The first item is its present status, the last one that of
   * its end, after every job.
   *
   * @throws Refusal `not_found` before the first item. After it nothing is thrown: a failed reading is made again.
   */
  async *open(scope: JobScope, id: string, signal: AbortSignal): AsyncGenerator<BatchStreamItem, void, void> {
    const key = [id, scopeText(scope)].join(' ');
    const follower = new Follower(new InterruptibleSleep(signal));
    // Before the first reading: what is read after it is sent.
    const feed = this.feedOf(key, scope, id);
    feed.attach(follower);
    try {
      const opening = await this.openings.get(key, () => this.batches.follow(scope, id, null));
      follower.begin(opening);
      feed.begin(opening.at);
      yield { kind: 'status', batch: opening.batch };
      yield* this.itemsAfter(opening.batch, follower);
    } finally {
      feed.detach(follower);
      follower.idle.close();
    }
  }

  private async *itemsAfter(first: BatchRecord, follower: Follower): AsyncGenerator<BatchStreamItem, void, void> {
    for (let shown = first; shown.completedAt === null;) {
      await follower.idle.sleep(this.timing.mostMs);
      if (follower.idle.aborted) return;
      const { jobs, batch } = follower.take();
      for (const job of jobs) yield { kind: 'job', job };
      const now = batch ?? shown;
      if (now.completedAt !== null) yield { kind: 'status', batch: now };
      else if (stateOf(now) !== stateOf(shown)) yield { kind: 'progress', batch: now };
      if (follower.over) return;
      shown = now;
    }
  }

  private feedOf(key: string, scope: JobScope, id: string): BatchFeed {
    const present = this.feeds.get(key);
    if (present !== undefined) return present;
    const feed: BatchFeed = new BatchFeed(
      (since) => this.batches.follow(scope, id, since),
      this.timing,
      () => {
        if (this.feeds.get(key) === feed) this.feeds.delete(key);
      },
    );
    this.feeds.set(key, feed);
    return feed;
  }
}

function stateOf({ counts, retries }: BatchRecord): string {
  return JSON.stringify([Object.entries(counts).sort(), retries]);
}
