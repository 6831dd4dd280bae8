import { findingOf, pairsOf, takeTurns } from './lib/pairs.mjs';

/** Of ours. */
const JOBS = 300;
/** Lives before the first that counts: until then the processes spend as much on compiling their code as on running it. */
const WARM_UP_JOBS = 6_000;
const QUICK_WARM_UP_JOBS = 1_500;
/** Of the floor. */
const SECONDS = 2;
const SETTINGS = {
  MILLRACE_QUEUE_LIMIT_PER_ACCOUNT: '1000000',
  MILLRACE_QUEUE_LIMIT_PER_POOL: '10000000',
  MILLRACE_RATE_LIMIT_PER_MINUTE: '100000000',
  MILLRACE_WORKER_CAPACITY: '4',
};
const WORKERS = 2;

/** @typedef {{ perSecond: number, commits: number, processorMs: number }} Cost */

/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'life',
  title: 'what a whole life of a job that computes nothing costs over the commit of its submission (P5, P5b)',
  async run(context) {
    const stack = await context.startStack({ workers: WORKERS, settings: SETTINGS });
    const load = await context.startLoad('life.load.mjs');
    await load.call('prepare', stack);
    await load.call('lives', { jobs: context.flags.quick ? QUICK_WARM_UP_JOBS : WARM_UP_JOBS });
    const turns = await takeTurns({
      pairs: context.flags.pairs,
      ours: () => /** @type {Promise<Cost>} */ (load.call('lives', { jobs: JOBS })),
      floor: () => /** @type {Promise<Cost>} */ (load.call('bareCommits', { seconds: SECONDS })),
    });
    const cost = (/** @type {'commits' | 'processorMs'} */ name) =>
      pairsOf(
        turns,
        (side) => side[name],
        (ours) => ours,
      );
    return [
      findingOf({
        measure: `P5 whole life: ${JOBS} jobs of one tiny text output each, from the first POST (32 at once, 100 accounts) until the last has succeeded, hold and settle included, with an api, ${WORKERS} workers and a maintenance beside them, over one statement of a submission committed bare, 32 at once`,
        unit: 'ratio',
        sideUnit: 'per second',
        isHigherBetter: true,
        gate: 0.2,
        goal: 0.35,
        pairs: pairsOf(
          turns,
          ({ perSecond }) => perSecond,
          (ours, floor) => ours / floor,
        ),
      }),
      findingOf({
        measure:
          'P5b commits: transactions that wrote, of all processes, for each of these jobs; of the floor for each statement (absolute)',
        unit: 'commits',
        sideUnit: 'commits',
        isHigherBetter: false,
        gate: 5,
        goal: 4,
        pairs: cost('commits'),
      }),
      findingOf({
        measure:
          'P5b processor: time of api, workers, maintenance, PostgreSQL and Redis for each of these jobs; of the floor for each statement (absolute)',
        unit: 'ms',
        sideUnit: 'ms',
        isHigherBetter: false,
        gate: 12,
        goal: 8,
        pairs: cost('processorMs'),
      }),
    ];
  },
};
