import { isTerminal, Refusal } from '@millrace/contracts';
import type { HeardEvent, LivePublisher, LiveSubscriber } from '@millrace/messaging';
import { Alarm } from './interruptible-sleep';
import { FEED_TIMING, FeedSchedule, type FeedTiming } from './stream-schedule';
import { Following, type FeedItem } from './stream-state';
import type { JobRecord, JobScope, JobTransitionRecord } from '../state/job';
import type { JobReads } from './job-reads.service';
import type { QueuePlace } from '../rotation/queue-estimates';
import { SharedReading } from './coalesced-reads';

/** A job as streams of it read it again: from the same transition on, all of them read the same. */
interface Reading {
  transitions: JobTransitionRecord[];
  job: JobRecord;
  place: QueuePlace | null;
}

/** What was heard of a job before it was first read, and who hears it from then on. */
class Ear {
  private readonly early: HeardEvent[] = [];
  private following: Following | undefined;

  constructor(private readonly alarm: Alarm) {}

  hear(event: HeardEvent): void {
    if (this.following === undefined) this.early.push(event);
    else this.following.hear(event);
    this.alarm.ring();
  }

  attach(following: Following): void {
    this.following = following;
  }

  hearEarly(): void {
    for (const event of this.early.splice(0)) this.following?.hear(event);
  }
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
   * Follow a job to its end, or until `signal` aborts. The first item is its present status. Items go out of this one
   * generator: an event to thousands of streams passes no second one, each of which costs as much as the rest.
   *
   * @throws Refusal `not_found` before the first item. After it nothing is thrown: a failed reading is made again.
   */
  async *follow(scope: JobScope, jobId: string, signal: AbortSignal): AsyncGenerator<FeedItem, void, void> {
    const alarm = new Alarm(signal);
    const ear = new Ear(alarm);
    const { heard, stop } = this.subscriber.subscribe(jobId, (event) => ear.hear(event));
    try {
      void heard.then(() => alarm.ring());
      await alarm.sleep(this.timing.subscribeMs);
      const following = yield* this.begin(scope, jobId, ear);
      if (following === null) return;
      const schedule = new FeedSchedule(this.timing);
      while (!alarm.aborted) {
        if (following.stale || schedule.isReadingDue()) {
          following.stale = false;
          schedule.beginReading();
          const { items, over, waiting } = await this.read(scope, jobId, following);
          for (const item of items) yield item;
          if (over) return;
          schedule.endReading({ hadNews: items.length > 0, waiting });
        }
        for (const item of schedule.takeProgress(following)) yield item;
        for (const item of schedule.takePreview(following)) yield item;
        if (!following.stale) await alarm.sleep(schedule.idleMs(following));
      }
    } finally {
      stop();
      alarm.close();
    }
  }

  /** How things stand. What was read for it is let go of with it. @returns null when there is nothing to follow. */
  private async *begin(scope: JobScope, jobId: string, ear: Ear): AsyncGenerator<FeedItem, Following | null, void> {
    const [job, shown] = await Promise.all([this.reads.get(scope, jobId), this.live.snapshot(jobId)]);
    const place = await this.reads.queuePlace(job);
    const following = new Following(job, place);
    ear.attach(following);
    yield { kind: 'status', job, place };
    if (isTerminal(job.status)) return null;
    following.offerProgress(job.progress);
    following.offerProgress(shown.progress);
    following.offerPreview(shown.preview);
    ear.hearEarly();
    yield* following.takeProgress();
    yield* following.takePreview();
    yield* following.takeOutputs(job);
    return following;
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
