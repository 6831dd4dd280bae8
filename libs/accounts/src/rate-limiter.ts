/** Length of the window in which requests are counted. */
export const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1_000;
const SYNC_EVERY_MS = 1_000;
/** What sums of fractions may be off by. */
const ROUNDING = 1e-6;
/** Callers counted at most; the oldest counts are dropped first. */
const MAX_CALLERS = 200_000;

/** Counters shared by all processes: `SharedCounters` of messaging. */
export interface Counters {
  /**
   * @param counts what this process has counted in all.
   * @param read further counters, of which it counts nothing now.
   * @returns what the others have of both.
   */
  exchange(
    counts: ReadonlyMap<string, number>,
    lifetimeMs: number,
    read: readonly string[],
  ): Promise<ReadonlyMap<string, number>>;
}

/** Whether one request may pass, and what is left. */
export interface RateVerdict {
  allowed: boolean;
  limit: number;
  /** Requests that may still come in this window. */
  remaining: number;
  /** Seconds until this window ends, at least 1. */
  resetSeconds: number;
  /** Seconds after which a refused request may pass, at least 1. */
  retryAfterSeconds: number;
}

/** The count of one caller's requests. */
interface Count {
  /** Number of the window, since the epoch: the same on every process. */
  window: number;
  /** Requests in the window before, by all processes, as far as this one knows. */
  previous: number;
  /** How many of those this process let pass; null once those of the others were read in this window. */
  ownPrevious: number | null;
  /** Requests in this window that this process let pass. */
  own: number;
  /** How many of those the other processes can know of, as of the last exchange. */
  shared: number;
  /** Requests in this window that other processes let pass, as of the last exchange. */
  others: number;
}

/**
 * Limits requests per minute over all processes, without a round trip per request. Each process counts what it lets pass; once
 * a second it writes its counts to Redis, in one pipeline, and reads those of the others. A caller that spreads over n
 * processes can exceed its limit by what n - 1 of them let pass in one second. Without Redis every process limits alone. With its first
 * request in a window, the process also reads what the others let pass in the one before: the caller may have been theirs until now.
 *
 * The window slides: the one before counts by the part of it that is less than a minute ago.
 */
export class RateLimiter {
  private readonly counts = new Map<string, Count>();
  private readonly timer: NodeJS.Timeout;
  private syncing: Promise<void> | null = null;

  /** @param now milliseconds since the epoch, on a clock that the processes share well enough. */
  constructor(
    private readonly counters: Counters,
    private readonly now: () => number = Date.now,
  ) {
    this.timer = setInterval(() => void this.sync(), SYNC_EVERY_MS).unref();
  }

  /** Count a request of a caller, if it may pass. */
  take(caller: string, limit: number): RateVerdict {
    const now = this.now();
    const count = this.countOf(caller, Math.floor(now / WINDOW_MS));
    const passedMs = now % WINDOW_MS;
    const used = usedBy(count, passedMs);
    const allowed = used + 1 <= limit + ROUNDING;
    if (allowed) count.own += 1;
    const resetSeconds = Math.max(1, Math.ceil((WINDOW_MS - passedMs) / 1_000));
    const waitMs = allowed ? 0 : waitOf(count, limit, passedMs);
    return {
      allowed,
      limit,
      remaining: Math.max(0, Math.floor(limit - used) - (allowed ? 1 : 0)),
      resetSeconds,
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
    };
  }

  private countOf(caller: string, window: number): Count {
    const known = this.counts.get(caller);
    if (known?.window === window) return known;
    const last = known?.window === window - 1 ? known : { own: 0, others: 0 };
    const count = { window, previous: last.own + last.others, ownPrevious: last.own, own: 0, shared: 0, others: 0 };
    // Deleted first, so that the map's order is that of the latest windows.
    this.counts.delete(caller);
    this.counts.set(caller, count);
    if (this.counts.size > MAX_CALLERS) this.counts.delete(this.counts.keys().next().value ?? caller);
    return count;
  }

  /** Share what passed here, and read what passed elsewhere. Never rejects; concurrent calls are one. */
  async sync(): Promise<void> {
    this.syncing ??= this.exchange().finally(() => (this.syncing = null));
    return this.syncing;
  }

  private async exchange(): Promise<void> {
    const window = Math.floor(this.now() / WINDOW_MS);
    const counts = new Map<string, number>();
    const before: string[] = [];
    for (const [caller, count] of this.counts) {
      if (count.window < window - 1) this.counts.delete(caller);
      if (count.window !== window || count.own <= count.shared) continue;
      counts.set(nameOf(window, caller), count.own);
      if (count.ownPrevious !== null) before.push(nameOf(window - 1, caller));
    }
    if (counts.size === 0) return;
    let others: ReadonlyMap<string, number>;
    try {
      others = await this.counters.exchange(counts, 2 * WINDOW_MS, before);
    } catch {
      // Redis is away, which its connection has logged, or slow. The next exchange shares these counts too.
      return;
    }
    for (const [caller, count] of this.counts) {
      const name = nameOf(window, caller);
      const sum = others.get(name);
      if (sum === undefined || count.window !== window) continue;
      count.shared = counts.get(name) ?? count.shared;
      count.others = sum;
      const sumBefore = others.get(nameOf(window - 1, caller));
      if (sumBefore === undefined || count.ownPrevious === null) continue;
      count.previous = count.ownPrevious + sumBefore;
      count.ownPrevious = null;
    }
  }

  close(): void {
    clearInterval(this.timer);
  }
}

function nameOf(window: number, caller: string): string {
  return `rate:${window}:${caller}`;
}

function usedBy({ previous, own, others }: Count, passedMs: number): number {
  return previous * (1 - passedMs / WINDOW_MS) + own + others;
}

/** Milliseconds until one more request fits, if no other comes. */
function waitOf({ previous, own, others }: Count, limit: number, passedMs: number): number {
  const current = own + others;
  const room = limit - 1 - current;
  // The previous window weighs less from moment to moment; it was more than the room, or the request would have passed.
  if (room >= 0) return (1 - room / previous) * WINDOW_MS - passedMs;
  // This window is full: wait until it is the previous one and weighs less.
  return WINDOW_MS - passedMs + Math.max(0, 1 - (limit - 1) / current) * WINDOW_MS;
}
