import type { Watermarks } from '../rotation';

/** How long watermarks are used at least before a turn reads from the start again, in milliseconds. */
export const WATERMARK_TTL_MS = 500;
/** And at most: what came from further behind waits no longer. */
export const LONGEST_TTL_MS = 5_000;
/** In between as many times as long as reading from the start took: it is a fiftieth of the work at most. */
const READINGS = 50;

/**
 * The watermarks of a pool, so that a turn need not read from the start what is dead: under a transaction that stays open for
 * minutes, the dead rows of those minutes lie at the start of every index.
 *
 * Accounts come into the rotation at a virtual time that their statement has read, and attempts into the lane at the time when
 * theirs began: a little behind what has committed meanwhile. So the watermarks in use are the lower of two readings, of which
 * one is WATERMARK_TTL_MS old at least; and after that time, or longer where reading takes long, everything is read again, for what came from
 * further behind.
 */
export class WatermarkCache {
  private latest: Watermarks | null = null;
  private before: Watermarks | null = null;
  private staleAt = -Infinity;

  /** @param now milliseconds of a clock that only goes forward. @returns null when it is time to read from the start. */
  get(now: number): Watermarks | null {
    const { latest, before } = this;
    if (latest === null || before === null || now >= this.staleAt) return null;
    return {
      pass: latest.pass < before.pass ? latest.pass : before.pass,
      inFlightSince: latest.inFlightSince < before.inFlightSince ? latest.inFlightSince : before.inFlightSince,
    };
  }

  /** Keep what a reading from the start has found, which began at `startedAt` and ended `now`. */
  set(found: Watermarks, startedAt: number, now: number): void {
    if (startedAt < this.staleAt) return;
    this.before = this.latest;
    this.latest = found;
    const ttlMs = Math.min(LONGEST_TTL_MS, Math.max(WATERMARK_TTL_MS, READINGS * (now - startedAt)));
    this.staleAt = startedAt + ttlMs;
  }
}
