import { setTimeout } from 'node:timers/promises';

/**
 * Begin acts at a fixed rate, whether or not earlier ones have ended, as requests of strangers arrive. Each is timed from
 * when it was due, so that a stall counts for all that arrive during it and not only for those it has met.
 *
 * @param {{ perSecond: number, seconds: number }} arrivals
 * @param {() => Promise<unknown>} act
 * @returns {Promise<number[]>} milliseconds of each
 */
export async function timesOfArrivalsMs({ perSecond, seconds }, act) {
  /** @type {number[]} */
  const times = [];
  /** @type {unknown[]} */
  const failures = [];
  const running = [];
  const startedAt = performance.now();
  for (let arrival = 0; arrival < perSecond * seconds && failures.length === 0; arrival += 1) {
    const dueAt = startedAt + (arrival * 1_000) / perSecond;
    await until(dueAt);
    const ended = act().then(
      () => times.push(performance.now() - dueAt),
      (error) => failures.push(error),
    );
    running.push(ended);
  }
  await Promise.all(running);
  for (const failure of failures) throw failure;
  return times;
}

/**
 * Timers know whole milliseconds only, so an act may begin one late, which counts in its time. To spin until the moment would take a
 * core from what is measured.
 *
 * @param {number} dueAt
 */
async function until(dueAt) {
  const left = dueAt - performance.now();
  if (left > 0) await setTimeout(Math.ceil(left));
}
