import { isTerminal, Refusal } from '@millrace/contracts';
import type { LivePublisher, LiveSubscriber } from '@millrace/messaging';
import { Alarm } from './alarm';
import { Following, type FeedItem } from './following';
import type { JobScope } from './job';
import type { JobReads } from './job-reads.service';

export interface FeedTiming {
  /** Postgres is read again this often whatever was heard: it holds what a lost message told. */
  rereadMs: number;
  /** A queued job's place is looked up this often. */
  positionMs: number;
  progressMs: number;
  previewMs: number;
  /** How long the first reading waits for the subscription to stand. */
  subscribeMs: number;
}

export const FEED_TIMING: FeedTiming = {
  rereadMs: 10_000,
  positionMs: 3_000,
  progressMs: 300,
  previewMs: 500,
  subscribeMs: 1_000,
};

/**
 * The live view of a job. It subscribes, then reads, then goes on from the transition it read: nothing that happened in
 * between is lost, and nothing is told twice. It goes on from readings alone while Redis is away.
 */
export class JobFeed {
  constructor(
    private readonly reads: JobReads,
    private readonly subscriber: LiveSubscriber,
    private readonly live: LivePublisher,
    private readonly timing: FeedTiming = FEED_TIMING,
  ) {}

  /**
   * Follow a job to its end, or until `signal` aborts. The first item is its present status.
   *
   * @throws Refusal `not_found` before the first item. After it nothing is thrown: a failed reading is made again.
   */
  async *follow(scope: JobScope, jobId: string, signal: AbortSignal): AsyncGenerator<FeedItem, void, void> {
    const alarm = new Alarm(signal);
    const early: Parameters<Following['hear']>[0][] = [];
    let following: Following | undefined;
    const { heard, stop } = this.subscriber.subscribe(jobId, (event) => {
      if (following === undefined) early.push(event);
      else following.hear(event);
      alarm.ring();
    });
    try {
      await Promise.race([heard, alarm.sleep(this.timing.subscribeMs)]);
      const [job, shown] = await Promise.all([this.reads.get(scope, jobId), this.live.snapshot(jobId)]);
      const position = await this.reads.queuePosition(job);
      following = new Following(job, position);
      yield { kind: 'status', job, queuePosition: position };
      if (isTerminal(job.status)) return;
      following.offerProgress(job.progress);
      following.offerProgress(shown.progress);
      following.offerPreview(shown.preview);
      for (const event of early) following.hear(event);
      yield* this.goOn(scope, jobId, following, alarm);
    } finally {
      stop();
    }
  }

  private async *goOn(
    scope: JobScope,
    jobId: string,
    following: Following,
    alarm: Alarm,
  ): AsyncGenerator<FeedItem, void, void> {
    const due = { reread: this.timing.rereadMs, position: this.timing.positionMs, progress: 0, preview: 0 };
    const started = performance.now();
    const now = (): number => performance.now() - started;
    while (!alarm.aborted) {
      if (following.stale || now() >= due.reread || now() >= due.position) {
        following.stale = false;
        due.reread = now() + this.timing.rereadMs;
        due.position = now() + this.timing.positionMs;
        const { items, over, waiting } = await this.read(scope, jobId, following);
        yield* items;
        if (over) return;
        if (!waiting) due.position = Number.POSITIVE_INFINITY;
      }
      if (now() >= due.progress) {
        const items = following.takeProgress();
        if (items.length > 0) due.progress = now() + this.timing.progressMs;
        yield* items;
      }
      if (now() >= due.preview) {
        const items = following.takePreview();
        if (items.length > 0) due.preview = now() + this.timing.previewMs;
        yield* items;
      }
      if (!following.stale) await alarm.sleep(nextOf(due, now()));
    }
  }

  private async read(
    scope: JobScope,
    jobId: string,
    following: Following,
  ): Promise<{ items: FeedItem[]; over: boolean; waiting: boolean }> {
    try {
      const [transitions, job] = await this.reads.sinceTransition(scope, jobId, following.seq);
      const items = following.takeNews(job, transitions);
      items.push(...following.takePosition(job, await this.reads.queuePosition(job)));
      return { items, over: isTerminal(job.status), waiting: job.status === 'queued' };
    } catch (error) {
      // Expired meanwhile: there is nothing more to tell. Anything else passes, and the next reading tells what was missed.
      return { items: [], over: error instanceof Refusal, waiting: true };
    }
  }
}

/** Milliseconds until something falls due; what is due already waits for the next event. */
function nextOf(due: Record<string, number>, now: number): number {
  const waits = Object.values(due).map((at) => at - now);
  return Math.min(...waits.filter((wait) => wait > 0));
}
