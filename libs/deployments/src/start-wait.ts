/** What the remaining time of a start is estimated from, in milliseconds. */
export interface StartOutlook {
  /** What its latest workers took from start to ready; null when none has been ready yet. */
  typicalStartMs: number | null;
  /** How long the present start has been going on. */
  waitedMs: number;
}

/** The estimate for a first worker. */
const UNKNOWN_START_MS = 10_000;
/** The longest wait: a start may be faster than usual, and clients give up after a minute. */
const LONGEST_SECONDS = 30;
/** A start that is overdue is expected to take this share of the time it has taken so far. */
const OVERDUE_SHARE = 0.25;

/** Seconds after which a retry may succeed: what is left of a typical start, or a share of the time that it has taken. */
export function startWaitSeconds({ typicalStartMs, waitedMs }: StartOutlook): number {
  const left = (typicalStartMs ?? UNKNOWN_START_MS) - waitedMs;
  const expectedMs = left > 0 ? left : waitedMs * OVERDUE_SHARE;
  return Math.min(LONGEST_SECONDS, Math.max(1, Math.ceil(expectedMs / 1000)));
}
