import type { Staff } from './staff';

/** Starts of a pool that failed one after the other. */
export interface Tries {
  failures: number;
  /** What the latest failure was. */
  failure: string | null;
  /** Nothing is started before; null where a start is not held back. */
  nextTryAt: Date | null;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;

/** How long to wait after so many failures, in milliseconds: twice as long each time, five minutes at most. */
function pauseMs(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(20, failures - 1));
}

/**
 * Whether a pool may start workers now, and what is known of its tries. A failure counts once: until the next try it is only
 * waited. What has all its workers ready, or wants none, has failed no more. Workers of another revision do not count as ready: they
 * say nothing of the one that is started.
 */
export function nextTry(
  { failures, failure, nextTryAt }: Tries,
  { failed, ready, fitting }: Pick<Staff, 'failed' | 'ready' | 'fitting'>,
  wanted: number,
  now: Date,
): { mayStart: boolean; tries: Tries } {
  const latest = failed.at(-1)?.reason;
  const isComplete = ready.filter((one) => fitting.includes(one)).length >= wanted;
  if (wanted === 0 || (latest === undefined && isComplete)) {
    return { mayStart: true, tries: { failures: 0, failure: null, nextTryAt: null } };
  }
  if (nextTryAt !== null && nextTryAt > now) return { mayStart: false, tries: { failures, failure, nextTryAt } };
  if (latest === undefined || nextTryAt !== null) {
    return { mayStart: true, tries: { failures, failure: latest ?? failure, nextTryAt: null } };
  }
  const next = new Date(now.getTime() + pauseMs(failures + 1));
  return { mayStart: false, tries: { failures: failures + 1, failure: latest, nextTryAt: next } };
}
