import { eventually } from './eventually';

const DAY_MS = 86_400_000;
/** What a test may take, on a slow machine too. */
const LONGEST_TEST_MS = 60_000;

/**
 * Begin a test of what is counted by days (UTC): in the last minute of a day it waits for the next one, so that what it counts is of one day.
 *
 * @param now the time, in milliseconds.
 */
export async function onOneDay(now: () => number = Date.now): Promise<void> {
  const lastsLong = (): boolean => DAY_MS - (now() % DAY_MS) > LONGEST_TEST_MS;
  await eventually('the next day (UTC) to begin', lastsLong, 2 * LONGEST_TEST_MS);
}
