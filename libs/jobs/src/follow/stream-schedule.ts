import type { StreamItem, StreamState } from './stream-state';

export interface StreamTiming {
  /** Postgres is read when no event has arrived for so long: events can be lost. */
  rereadMs: number;
  /** And after so long however many arrive: one among them can have been lost. */
  rereadAtLatestMs: number;
  /** A queued job's place is looked up this often at most, and less and less often, down to `rereadMs`, while it stays. */
  positionMs: number;
  progressMs: number;
  previewMs: number;
  /** How long the first reading waits for the subscription to be confirmed. */
  subscribeMs: number;
}

export const STREAM_TIMING: StreamTiming = {
  rereadMs: 10_000,
  rereadAtLatestMs: 60_000,
  positionMs: 3_000,
  progressMs: 300,
  previewMs: 500,
  subscribeMs: 1_000,
};

/**
 * When one stream is to read again and what it may send, on the clock of `performance.now()`. What may be sent goes by the time at which it was
 * asked whether a reading is due, or was read: an event to thousands of streams asks each of them all of it.
 */
export class StreamSchedule {
  private now = performance.now();
  private readAt = this.now;
  private eventAt = this.now;
  /** Whether an event has arrived since the clock was looked at. */
  private hasEvents = false;
  private positionAt: number;
  private positionMs: number;
  private progressAt = 0;
  private previewAt = 0;

  constructor(private readonly timing: StreamTiming) {
    this.positionMs = timing.positionMs;
    this.positionAt = this.now + timing.positionMs;
  }

  /** An event arrived: a job of which there is news lately is read less often. */
  noteEvent(): void {
    this.hasEvents = true;
  }

  isReadingDue(): boolean {
    this.lookAtClock();
    return this.now >= this.rereadAt || this.now >= this.positionAt;
  }

  beginReading(): void {
    this.lookAtClock();
    this.readAt = this.now;
  }

  private lookAtClock(): void {
    this.now = performance.now();
    if (!this.hasEvents) return;
    this.hasEvents = false;
    this.eventAt = this.now;
  }

  private get rereadAt(): number {
    const { rereadMs, rereadAtLatestMs } = this.timing;
    return Math.min(Math.max(this.readAt, this.eventAt) + rereadMs, this.readAt + rereadAtLatestMs);
  }

  /** @param reading.waiting whether the job is queued, so that its place can change without an event. */
  endReading({ hadNews, waiting }: { hadNews: boolean; waiting: boolean }): void {
    this.lookAtClock();
    const { positionMs, rereadMs } = this.timing;
    this.positionMs = hadNews ? positionMs : Math.min(this.positionMs * 2, rereadMs);
    this.positionAt = waiting ? this.now + this.positionMs : Number.POSITIVE_INFINITY;
  }

  /** The latest progress, when it may be sent. */
  takeProgress(state: StreamState): StreamItem[] {
    const items = this.now >= this.progressAt ? state.takeProgress() : [];
    if (items.length > 0) this.progressAt = this.now + this.timing.progressMs;
    return items;
  }

  /** The latest preview, when it may be sent. */
  takePreview(state: StreamState): StreamItem[] {
    const items = this.now >= this.previewAt ? state.takePreview() : [];
    if (items.length > 0) this.previewAt = this.now + this.timing.previewMs;
    return items;
  }

  /** Milliseconds until something is due. Progress and previews count while there is one to send. */
  idleMs({ hasProgress, hasPreview }: Pick<StreamState, 'hasProgress' | 'hasPreview'>): number {
    let at = Math.min(this.rereadAt, this.positionAt);
    if (hasProgress) at = Math.min(at, this.progressAt);
    if (hasPreview) at = Math.min(at, this.previewAt);
    // A client that takes what it is sent slowly has passed time since.
    return Math.max(0, at - performance.now());
  }
}
