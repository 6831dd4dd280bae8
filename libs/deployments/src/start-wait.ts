/** What is known of how long a deployment will still take to become ready, in milliseconds. */
export interface StartOutlook {
  /** What its latest workers took from their start to their readiness; null when none has been ready yet. */
  typicalStartMs: number | null;
  /** How long the present start has been going on. */
  waitedMs: number;
}

/** Expected of a worker of which nothing is known. */
const UNKNOWN_START_MS = 10_000;
/** Nobody is sent away for longer: a start may be faster than usual, and clients give up after a minute. */
const LONGEST_SECONDS = 30;
/** A start that takes longer than usual is expected to take as long again as this part of what it has taken. */
const OVERDUE_SHARE = 0.25;

/** Seconds after which asking again is worth it: what is left of a typical start, or a part of the time it is overdue. */
export function startWaitSeconds({ typicalStartMs, waitedMs }: StartOutlook): number {
  const left = (typicalStartMs ?? UNKNOWN_START_MS) - waitedMs;
  const expectedMs = left > 0 ? left : waitedMs * OVERDUE_SHARE;
  return Math.min(LONGEST_SECONDS, Math.max(1, Math.ceil(expectedMs / 1000)));
}
