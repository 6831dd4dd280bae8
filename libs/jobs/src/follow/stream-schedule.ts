import type { FeedItem, Following } from './stream-state';

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

/** When one stream is to read again and what it may send, on the clock of `performance.now()`. */
export class FeedSchedule {
  private rereadAt: number;
  private positionAt: number;
  private positionMs: number;
  private progressAt = 0;
  private previewAt = 0;

  constructor(private readonly timing: FeedTiming) {
    const now = performance.now();
    this.rereadAt = now + timing.rereadMs;
    this.positionMs = timing.positionMs;
    this.positionAt = now + timing.positionMs;
  }

  isReadingDue(): boolean {
    const now = performance.now();
    return now >= this.rereadAt || now >= this.positionAt;
  }

  beginReading(): void {
    this.rereadAt = performance.now() + this.timing.rereadMs;
  }

  /** @param reading.waiting whether the job is queued, so that its place may change without a word. */
  endReading({ hadNews, waiting }: { hadNews: boolean; waiting: boolean }): void {
    const { positionMs, rereadMs } = this.timing;
    this.positionMs = hadNews ? positionMs : Math.min(this.positionMs * 2, rereadMs);
    this.positionAt = waiting ? performance.now() + this.positionMs : Number.POSITIVE_INFINITY;
  }

  /** The latest progress, when it may be sent. */
  takeProgress(following: Following): FeedItem[] {
    const now = performance.now();
    const items = now >= this.progressAt ? following.takeProgress() : [];
    if (items.length > 0) this.progressAt = now + this.timing.progressMs;
    return items;
  }

  /** The latest preview, when it may be sent. */
  takePreview(following: Following): FeedItem[] {
    const now = performance.now();
    const items = now >= this.previewAt ? following.takePreview() : [];
    if (items.length > 0) this.previewAt = now + this.timing.previewMs;
    return items;
  }

  /** Milliseconds until something falls due. Only what is there waits to be sent. */
  idleMs({ hasProgress, hasPreview }: Pick<Following, 'hasProgress' | 'hasPreview'>): number {
    let at = Math.min(this.rereadAt, this.positionAt);
    if (hasProgress) at = Math.min(at, this.progressAt);
    if (hasPreview) at = Math.min(at, this.previewAt);
    return Math.max(0, at - performance.now());
  }
}
