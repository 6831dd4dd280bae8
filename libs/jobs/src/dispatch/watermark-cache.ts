/** Where a reading of a pool's rotation and lane began, or may begin. */
export interface DispatchMarks {
  /** The lowest pass of the accounts that can have a turn. */
  pass: bigint;
  /** When the oldest of the attempts in flight was dispatched. */
  inFlightSince: Date;
}

/** How long marks are believed. */
export const BELIEVED_MS = 500;

/**
 * What a dispatcher remembers of a pool, so that it need not read from the start what is dead: under a transaction that stays
 * open for minutes, the dead of those minutes lie at the start of every index.
 *
 * Accounts come into the rotation at a virtual time that their statement has read, and attempts into the lane at the time
 * when theirs began: a little behind what has committed meanwhile. So the marks in use are the lower of two readings, of
 * which one is BELIEVED_MS old at least; and after that time everything is read again, for what came from further behind.
 */
export class DispatchMemory {
  private last: DispatchMarks | null = null;
  private before: DispatchMarks | null = null;
  private takenAt = -Infinity;

  /** @param now milliseconds of a clock that only goes forward. @returns null when it is time to read from the start. */
  marks(now: number): DispatchMarks | null {
    const { last, before } = this;
    if (last === null || before === null || now - this.takenAt >= BELIEVED_MS) return null;
    return {
      pass: last.pass < before.pass ? last.pass : before.pass,
      inFlightSince: last.inFlightSince < before.inFlightSince ? last.inFlightSince : before.inFlightSince,
    };
  }

  /** Keep what a reading from the start has found. */
  keep(found: DispatchMarks, now: number): void {
    if (now - this.takenAt < BELIEVED_MS) return;
    this.before = this.last;
    this.last = found;
    this.takenAt = now;
  }
}
