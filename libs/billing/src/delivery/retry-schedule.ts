const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Pauses after each failed attempt, in seconds. The last one is repeated until an attempt succeeds or the destination is disabled. */
export const PAUSES_SECONDS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 20 * HOUR];

/** A destination at which no attempt has succeeded for so long is disabled. */
export const FAILING_LIMIT_SECONDS = 72 * HOUR;

/** Of a pause: what failed together is not tried again together. */
const JITTER = 0.2;

/** How long to wait before the next attempt, in seconds. @param tries attempts that failed so far, 1 or more. */
export function pauseSeconds(tries: number, random: () => number = Math.random): number {
  const pause = PAUSES_SECONDS[Math.min(tries, PAUSES_SECONDS.length) - 1] ?? MINUTE;
  return pause * (1 - JITTER + 2 * JITTER * random());
}
