import { isTerminal, Refusal } from '@millrace/contracts';
import type { HeardEvent, LivePublisher, LiveSubscriber } from '@millrace/messaging';
import { Alarm } from './alarm';
import { Following, type FeedItem } from './following';
import type { JobRecord, JobScope, JobTransitionRecord } from './job';
import type { JobReads } from './job-reads.service';
import type { QueuePlace } from './queue-outlook';
import { SharedReading } from './shared-reading';

export interface FeedTiming {
  /** Postgres is read again this often whatever was heard: it holds what a lost message told. */
  rereadMs: number;
  /** A queued job's place is looked up this often at most; more and more seldom, up to `rereadMs`, while it stays. */
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

/** A job as streams of it read it again: from the same transition on, all of them read the same. */
interface Reading {
  transitions: JobTransitionRecord[];
  job: JobRecord;
  place: QueuePlace | null;
}

/**
 * The live view of a job. It subscribes, then reads, then goes on from the transition it read: nothing that happened in
 * between is lost, and nothing is told twice. It goes on from readings alone while Redis is away.
 */
export class JobFeed {
  private readonly readings = new SharedReading<Reading>();

  constructor(
    private readonly reads: Pick<JobReads, 'get' | 'queuePlace' | 'sinceTransition'>,
    private readonly subscriber: Pick<LiveSubscriber, 'subscribe'>,
    private readonly live: Pick<LivePublisher, 'snapshot'>,
    private readonly timing: FeedTiming = FEED_TIMING,
  ) {}

  /**
   * Follow a job to its end, or until `signal` aborts. The first item is its present status.
   *
   * @throws Refusal `not_found` before the first item. After it nothing is thrown: a failed reading is made again.
   */
  async *follow(scope: JobScope, jobId: string, signal: AbortSignal): AsyncGenerator<FeedItem, void, void> {
    const alarm = new Alarm(signal);
    const early: HeardEvent[] = [];
    let following: Following | undefined;
    const { heard, stop } = this.subscriber.subscribe(jobId, (event) => {
      if (following === undefined) early.push(event);
      else following.hear(event);
      alarm.ring();
    });
    try {
      void heard.then(() => alarm.ring());
      await alarm.sleep(this.timing.subscribeMs);
      const [job, shown] = await Promise.all([this.reads.get(scope, jobId), this.live.snapshot(jobId)]);
      const place = await this.reads.queuePlace(job);
      following = new Following(job, place);
      yield { kind: 'status', job, place };
      if (isTerminal(job.status)) return;
      following.offerProgress(job.progress);
      following.offerProgress(shown.progress);
      following.offerPreview(shown.preview);
      for (const event of early) following.hear(event);
      yield* following.takeProgress();
      yield* following.takePreview();
      yield* following.takeOutputs(job);
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
    let positionMs = this.timing.positionMs;
    const started = performance.now();
    const now = (): number => performance.now() - started;
    while (!alarm.aborted) {
      if (following.stale || now() >= due.reread || now() >= due.position) {
        following.stale = false;
        due.reread = now() + this.timing.rereadMs;
        const { items, over, waiting } = await this.read(scope, jobId, following);
        yield* items;
        if (over) return;
        positionMs = items.length > 0 ? this.timing.positionMs : Math.min(positionMs * 2, this.timing.rereadMs);
        due.position = waiting ? now() + positionMs : Number.POSITIVE_INFINITY;
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

  private readSince(scope: JobScope, jobId: string, seq: number): Promise<Reading> {
    const key = [jobId, seq, scope.accountId, scope.surface, scope.deploymentId].join(' ');
    return this.readings.ask(key, async () => {
      const [transitions, job] = await this.reads.sinceTransition(scope, jobId, seq);
      return { transitions, job, place: await this.reads.queuePlace(job) };
    });
  }

  private async read(
    scope: JobScope,
    jobId: string,
    following: Following,
  ): Promise<{ items: FeedItem[]; over: boolean; waiting: boolean }> {
    try {
      const { transitions, job, place } = await this.readSince(scope, jobId, following.seq);
      const items = following.takeNews(job, transitions);
      items.push(...following.takePlace(job, place));
      return { items, over: isTerminal(job.status), waiting: job.status === 'queued' };
    } catch (error) {
      // Expired meanwhile: there is nothing more to tell. Anything else passes, and the next reading tells what was missed.
      return { items: [], over: error instanceof Refusal, waiting: true };
    }
  }
}

/** Milliseconds until something falls due. Progress and previews that may be sent already wait for the next event. */
function nextOf(due: { reread: number; position: number; progress: number; preview: number }, now: number): number {
  const readings = [due.reread, due.position].map((at) => Math.max(0, at - now));
  const sendings = [due.progress, due.preview].map((at) => at - now).filter((wait) => wait > 0);
  return Math.min(...readings, ...sendings);
}
