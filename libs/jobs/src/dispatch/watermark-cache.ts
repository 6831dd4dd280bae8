import type { Watermarks } from '../rotation';

/** How long watermarks are used before a turn reads from the start again. */
export const WATERMARK_TTL_MS = 500;

/**
 * The watermarks of a pool, so that a turn need not read from the start what is dead: under a transaction that stays open for
 * minutes, the dead rows of those minutes lie at the start of every index.
 *
 * Accounts come into the rotation at a virtual time that their statement has read, and attempts into the lane at the time when
 * theirs began: a little behind what has committed meanwhile. So the watermarks in use are the lower of two readings, of which
 * one is WATERMARK_TTL_MS old at least; and after that time everything is read again, for what came from further behind.
 */
export class WatermarkCache {
  private latest: Watermarks | null = null;
  private before: Watermarks | null = null;
  private readAt = -Infinity;

  /** @param now milliseconds of a clock that only goes forward. @returns null when it is time to read from the start. */
  get(now: number): Watermarks | null {
    const { latest, before } = this;
    if (latest === null || before === null || now - this.readAt >= WATERMARK_TTL_MS) return null;
    return {
      pass: latest.pass < before.pass ? latest.pass : before.pass,
      inFlightSince: latest.inFlightSince < before.inFlightSince ? latest.inFlightSince : before.inFlightSince,
    };
  }

  /** Keep what a reading from the start has found. */
  set(found: Watermarks, now: number): void {
    if (now - this.readAt < WATERMARK_TTL_MS) return;
    this.before = this.latest;
    this.latest = found;
    this.readAt = now;
  }
}
