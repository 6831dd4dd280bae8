import { RESCUE_SETTINGS } from '../scripts/lib/testing/index.mjs';
import { findingOf, pairsOf, quantile } from './lib/pairs.mjs';

/** At once, of each side of a pair. */
const DEATHS = 2;
/** One more than die: somebody must be there to take the next attempt. */
const WORKERS = DEATHS + 1;
/** Floors that wait side by side. */
const TOGETHER = 8;

/**
 * Either side waits for its own timers, and the floor for up to a hundred seconds with nothing to do. So the floors of several
 * pairs wait side by side while ours are measured one after the other: neither has the machine to itself, and what ours
 * compute meanwhile is no more than a fleet of engines beside any queue.
 */
/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'rescue',
  title: "how soon a killed worker's job has its next attempt, over BullMQ with its defaults (P8)",
  async run(context) {
    const stack = await context.startStack({ workers: WORKERS, settings: RESCUE_SETTINGS });
    const load = await context.startLoad('rescue.load.mjs');
    const turns = [];
    // The first warms up and does not count.
    for (let left = context.flags.pairs + 1; left > 0; left -= TOGETHER) {
      const count = Math.min(TOGETHER, left);
      const [ours, floors] = await Promise.all([
        oneByOne(count, () => load.call('rescuesMs', { stack, deaths: DEATHS })),
        Promise.all(Array.from({ length: count }, () => recoveriesMs(load, stack.redisUrl))),
      ]);
      turns.push(...ours.map((times, index) => ({ ours: times, floor: floors[index] ?? [] })));
    }
    return [
      findingOf({
        measure: `P8 worker death: p99 from SIGKILL in a job to the start of its next attempt (lease of 10 s), over the same of a BullMQ worker (its default lock and stalled check of 30 s), ${DEATHS} deaths at once a side`,
        unit: 'ratio',
        sideUnit: 'ms',
        isHigherBetter: false,
        gate: 0.25,
        goal: 0.15,
        pairs: pairsOf(
          turns.slice(1),
          (times) => quantile(times, 0.99),
          (ours, floor) => ours / floor,
        ),
      }),
    ];
  },
};

/**
 * @param {import('./lib/bench.js').Load} load
 * @param {string} redisUrl
 * @returns {Promise<number[]>}
 */
function recoveriesMs(load, redisUrl) {
  return load.call('recoveriesMs', { redisUrl, deaths: DEATHS });
}

/**
 * @param {number} count
 * @param {() => Promise<number[]>} measure
 */
async function oneByOne(count, measure) {
  const all = [];
  while (all.length < count) all.push(await measure());
  return all;
}
