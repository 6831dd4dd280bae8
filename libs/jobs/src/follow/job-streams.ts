import { isTerminal, Refusal } from '@millrace/contracts';
import type { ReceivedEvent, LivePublisher, LiveSubscriber } from '@millrace/messaging';
import type { QueuePlace } from '../rotation';
import { scopeText, type JobRecord, type JobScope, type JobTransitionRecord } from '../state';
import { CoalescedReads } from './coalesced-reads';
import { InterruptibleSleep } from './interruptible-sleep';
import type { JobReads } from './job-reads.service';
import { withProgress } from './live-progress';
import { STREAM_TIMING, StreamSchedule, type StreamTiming } from './stream-schedule';
import { StreamState, type StreamItem } from './stream-state';

/** A job as its streams read it: from the same transition on, all of them read the same. */
interface Reading {
  transitions: JobTransitionRecord[];
  job: JobRecord;
  place: QueuePlace | null;
}

/** Events of a job: kept until it was first read, then passed to the stream's state. */
class EventInbox {
  private readonly early: ReceivedEvent[] = [];
  private state: StreamState | undefined;

  constructor(
    private readonly sleep: InterruptibleSleep,
    private readonly schedule: StreamSchedule,
  ) {}

  receive(event: ReceivedEvent): void {
    this.schedule.noteEvent();
    if (this.state === undefined) this.early.push(event);
    else this.state.receive(event);
    this.sleep.wake();
  }

  attach(state: StreamState): void {
    this.state = state;
  }

  deliverEarly(): void {
    for (const event of this.early.splice(0)) this.state?.receive(event);
  }
}

/**
 * Streams of what happens to a job. A stream subscribes, then reads, then goes on from the transition it read: nothing that
 * happened in between is lost, and nothing is sent twice. While Redis is away it goes on from readings alone.
 */
export class JobStreams {
  private readonly readings = new CoalescedReads<Reading>();

  constructor(
    private readonly reads: Pick<JobReads, 'get' | 'queuePlace' | 'sinceTransition'>,
    private readonly subscriber: Pick<LiveSubscriber, 'subscribe'>,
    private readonly live: Pick<LivePublisher, 'snapshot'>,
    private readonly timing: StreamTiming = STREAM_TIMING,
  ) {}

  /**
   * Stream a job until its end, or until `signal` aborts. The first item is its present status. Items come out of this one
   * generator: a second one that each event to thousands of streams passed would cost as much as all the rest.
   *
   * @throws Refusal `not_found` before the first item. After it nothing is thrown: a failed reading is made again.
   */
  async *open(scope: JobScope, jobId: string, signal: AbortSignal): AsyncGenerator<StreamItem, void, void> {
    const idle = new InterruptibleSleep(signal);
    const schedule = new StreamSchedule(this.timing);
    const inbox = new EventInbox(idle, schedule);
    const { subscribed, stop } = this.subscriber.subscribe(jobId, (event) => inbox.receive(event));
    try {
      void subscribed.then(() => idle.wake());
      await idle.sleep(this.timing.subscribeMs);
      const state = yield* this.begin(scope, jobId, inbox);
      if (state === null) return;
      schedule.beginReading();
      while (!idle.aborted) {
        if (state.stale || schedule.isReadingDue()) {
          state.stale = false;
          schedule.beginReading();
          const { items, over, waiting } = await this.read(scope, jobId, state);
          for (const item of items) yield item;
          if (over) return;
          schedule.endReading({ hadNews: items.length > 0, waiting });
        }
        for (const item of schedule.takeProgress(state)) yield item;
        for (const item of schedule.takePreview(state)) yield item;
        if (!state.stale) await idle.sleep(schedule.idleMs(state));
      }
    } finally {
      stop();
      idle.close();
    }
  }

  /** Send a first snapshot. What was read for it is not kept. @returns null when the job has ended. */
  private async *begin(
    scope: JobScope,
    jobId: string,
    inbox: EventInbox,
  ): AsyncGenerator<StreamItem, StreamState | null, void> {
    const [job, shown] = await Promise.all([this.reads.get(scope, jobId), this.live.snapshot(jobId)]);
    const place = await this.reads.queuePlace(job);
    const state = new StreamState(job, place);
    inbox.attach(state);
    yield { kind: 'status', job: withProgress(job, shown.progress), place };
    if (isTerminal(job.status)) return null;
    state.offerProgress(job.progress);
    state.offerProgress(shown.progress);
    state.offerPreview(shown.preview);
    inbox.deliverEarly();
    yield* state.takeProgress();
    yield* state.takePreview();
    yield* state.takeOutputs(job);
    return state;
  }

  private readSince(scope: JobScope, jobId: string, seq: number): Promise<Reading> {
    const key = [jobId, seq, scopeText(scope)].join(' ');
    return this.readings.get(key, async () => {
      const [transitions, job] = await this.reads.sinceTransition(scope, jobId, seq);
      return { transitions, job, place: await this.reads.queuePlace(job) };
    });
  }

  private async read(
    scope: JobScope,
    jobId: string,
    state: StreamState,
  ): Promise<{ items: StreamItem[]; over: boolean; waiting: boolean }> {
    try {
      const { transitions, job, place } = await this.readSince(scope, jobId, state.seq);
      const items = state.takeNews(job, transitions);
      items.push(...state.takePlace(job, place));
      return { items, over: isTerminal(job.status), waiting: job.status === 'queued' };
    } catch (error) {
      // A refusal: the job has expired, and there is no more to send. Any other error passes, and the next reading has it all.
      return { items: [], over: error instanceof Refusal, waiting: true };
    }
  }
}
