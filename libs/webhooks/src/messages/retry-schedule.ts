const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Pauses after each failed attempt, in seconds: some three days together, as Standard Webhooks recommends. */
export const PAUSES_SECONDS = [
  5,
  30,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  20 * HOUR,
];

/** An endpoint of which no attempt has succeeded for so long is disabled. */
export const FAILING_LIMIT_SECONDS = 72 * HOUR;

/** Of a pause: messages that failed together are not sent again together. */
const JITTER = 0.2;

/**
 * How long to wait before the next attempt.
 *
 * @param tries attempts that failed so far, 1 or more.
 * @returns seconds; null when there is no other attempt.
 */
export function pauseSeconds(tries: number, random: () => number = Math.random): number | null {
  const pause = PAUSES_SECONDS[tries - 1];
  return pause === undefined ? null : pause * (1 - JITTER + 2 * JITTER * random());
}
