import { Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { CoalescedReads, InterruptibleSleep } from '../follow';
import { scopeText, type JobScope } from '../state';
import type { BatchRecord } from './batch';
import { endedLately, forgetBefore, type EndedJob } from './batch-follow.store';
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
/** A stream of a large batch reads less often: readings take a part of the time that is no larger than one in so many. */
const READING_SHARE = 20;
const SLOWER = 1.5;

/** What one stream has sent. */
class SentJobs {
  private readonly ended = new Map<string, number>();

  /** Those that were not sent, each of them once. */
  take(jobs: readonly EndedJob[], since: Date): EndedJob[] {
    const fresh = jobs.filter(({ jobId }) => !this.ended.has(jobId));
    for (const { jobId, completedAt } of fresh) this.ended.set(jobId, completedAt.getTime());
    const before = forgetBefore(since);
    for (const [jobId, endedMs] of this.ended) if (endedMs < before) this.ended.delete(jobId);
    return fresh;
  }
}

/**
 * Streams of what happens to a batch, from readings alone: its jobs are too many to subscribe to each. Counts are read together, the
 * latest of them are sent. Of jobs that end, each is sent once; what was missed is in the list of jobs.
 */
export class BatchStreams {
  private readonly readings = new CoalescedReads<BatchRecord>();

  constructor(
    private readonly database: Statements,
    private readonly batches: Pick<Batches, 'get'>,
    private readonly timing: BatchStreamTiming = TIMING,
  ) {}

  /**
   * Stream a batch until all its jobs have ended, or until `signal` aborts. The first item is its present status, the last one that of
   * its end, after every job.
   *
   * @throws Refusal `not_found` before the first item. After it nothing is thrown: a failed reading is made again.
   */
  async *open(scope: JobScope, id: string, signal: AbortSignal): AsyncGenerator<BatchStreamItem, void, void> {
    const idle = new InterruptibleSleep(signal);
    try {
      const sent = new SentJobs();
      // A job that ends between the two readings is in the status, and sent as well.
      const before = await endedLately(this.database, id, null);
      sent.take(before.jobs, before.at);
      let since = before.at;
      let batch = await this.read(scope, id);
      yield { kind: 'status', batch };
      for (let pauseMs = this.timing.leastMs; batch.completedAt === null;) {
        await idle.sleep(pauseMs);
        if (idle.aborted) return;
        const beganMs = performance.now();
        const news = await this.news(scope, id, since);
        if (news === 'over') return;
        if (news === null) continue;
        const jobs = sent.take(news.jobs, news.at);
        for (const job of jobs) yield { kind: 'job', job };
        const isChanged = stateOf(news.batch) !== stateOf(batch);
        ({ batch, at: since } = news);
        if (batch.completedAt !== null) yield { kind: 'status', batch };
        else if (isChanged) yield { kind: 'progress', batch };
        pauseMs = this.pauseMs(pauseMs, performance.now() - beganMs, isChanged);
      }
    } finally {
      idle.close();
    }
  }

  private pauseMs(lastMs: number, readingMs: number, hadNews: boolean): number {
    const { leastMs, mostMs } = this.timing;
    const pauseMs = hadNews ? leastMs : lastMs * SLOWER;
    return Math.min(mostMs, Math.max(pauseMs, readingMs * READING_SHARE));
  }

  /** The batch is read first: once it has ended, every end is in the jobs. @returns null when it is to be read again. */
  private async news(
    scope: JobScope,
    id: string,
    since: Date,
  ): Promise<{ batch: BatchRecord; jobs: EndedJob[]; at: Date } | 'over' | null> {
    try {
      const batch = await this.read(scope, id);
      return { batch, ...(await endedLately(this.database, id, since)) };
    } catch (error) {
      // A refusal: the batch has expired. Any other error passes, and the next reading has it all.
      return error instanceof Refusal ? 'over' : null;
    }
  }

  private read(scope: JobScope, id: string): Promise<BatchRecord> {
    const key = [id, scopeText(scope)].join(' ');
    return this.readings.get(key, () => this.batches.get(scope, id));
  }
}

function stateOf({ counts, retries }: BatchRecord): string {
  return JSON.stringify([Object.entries(counts).sort(), retries]);
}
