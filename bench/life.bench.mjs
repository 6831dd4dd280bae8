import { findingOf, measurePairs } from './lib/pairs.mjs';

/** Of ours. */
const JOBS = 300;
/** Of the floor. */
const SECONDS = 2;
const SETTINGS = {
  MILLRACE_QUEUE_LIMIT_PER_ACCOUNT: '1000000',
  MILLRACE_QUEUE_LIMIT_PER_POOL: '10000000',
  MILLRACE_RATE_LIMIT_PER_MINUTE: '100000000',
  MILLRACE_WORKER_CAPACITY: '4',
};
const WORKERS = 2;

/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'life',
  title: 'what a whole life of a job that computes nothing costs over the commit of its submission (P5)',
  async run(context) {
    const stack = await context.startStack({ workers: WORKERS, settings: SETTINGS });
    const load = await context.startLoad('life.load.mjs');
    await load.call('prepare', stack);
    const pairs = await measurePairs({
      pairs: context.flags.pairs,
      ours: () => load.call('livesPerSecond', { jobs: JOBS }),
      floor: () => load.call('bareCommitsPerSecond', { seconds: SECONDS }),
      compare: (ours, floor) => ours / floor,
    });
    return [
      findingOf({
        measure: `P5 whole life: ${JOBS} jobs of one tiny text output each, from the first POST (32 at once, 100 accounts) until the last has succeeded, hold and settle included, with an api, ${WORKERS} workers and a maintenance beside them, over one statement of a submission committed bare, 32 at once`,
        unit: 'ratio',
        sideUnit: 'per second',
        isHigherBetter: true,
        gate: 0.2,
        goal: 0.35,
        pairs,
      }),
    ];
  },
};
