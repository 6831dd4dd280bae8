import { findingOf, pairsOf, takeTurns } from './lib/pairs.mjs';

/** @typedef {import('./load/batches.load.mjs').Admission} Admission */
/** @typedef {import('./load/batches.load.mjs').Form} Form */

const SIZES = [1_000, 10_000];
const QUICK_SIZES = [1_000];
/** Of 1,000 jobs, on two cores; ten times as many take ten times as long at most. */
const MS_PER_JOB = 1;
const GOAL_MS_PER_JOB = 0.7;
const SETTINGS = {
  MILLRACE_QUEUE_LIMIT_PER_ACCOUNT: '1000000',
  MILLRACE_QUEUE_LIMIT_PER_POOL: '10000000',
  MILLRACE_RATE_LIMIT_PER_MINUTE: '100000000',
  // 10,000 listed graphs of five kilobytes are 52 MB.
  MILLRACE_MAX_BATCH_BYTES: '104857600',
};
/** Batches before the first that counts: until then the processes compile their code. */
const WARM_UP_BATCHES = 5;

/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'batches',
  title: 'how soon many jobs are admitted as one batch, over the bare commit of the same rows',
  async run({ flags, startStack, startLoad }) {
    const stack = await startStack({ workers: 0, settings: SETTINGS });
    const load = await startLoad('batches.load.mjs');
    await load.call('prepare', stack);
    const admit = (/** @type {Form} */ form, /** @type {number} */ jobs) =>
      /** @type {Promise<Admission>} */ (load.call('admit', { form, jobs }));
    for (let nth = 0; nth < WARM_UP_BATCHES; nth += 1) for (const form of FORMS) await admit(form, 1_000);
    const findings = [];
    for (const jobs of flags.quick ? QUICK_SIZES : SIZES) {
      for (const form of /** @type {const} */ (['listed', 'table'])) {
        const turns = await takeTurns({
          pairs: flags.pairs,
          ours: () => admit(form, jobs),
          floor: () => admit('bare', jobs),
        });
        findings.push(...findingsOf(form, jobs, turns));
      }
    }
    return findings;
  },
};

/** @type {Form[]} */
const FORMS = ['listed', 'table', 'bare'];

/**
 * @param {'listed' | 'table'} form
 * @param {number} jobs
 * @param {{ ours: Admission, floor: Admission }[]} turns
 */
function findingsOf(form, jobs, turns) {
  const what = `${jobs.toLocaleString('en')} jobs of twenty nodes, ${form === 'table' ? 'as a table of values' : 'listed'}`;
  return [
    findingOf({
      measure: `batches, ${what}: from the request to the answer, beside the bare commit of the same rows (absolute)`,
      unit: 'ms',
      sideUnit: 'ms',
      isHigherBetter: false,
      gate: jobs * MS_PER_JOB,
      goal: jobs * GOAL_MS_PER_JOB,
      pairs: pairsOf(
        turns,
        ({ ms }) => ms,
        (ours) => ours,
      ),
    }),
    findingOf({
      measure: `batches over bare, ${what}: the same over the bare commit`,
      unit: 'ratio',
      sideUnit: 'ms',
      isHigherBetter: false,
      gate: 2.5,
      goal: 1.5,
      pairs: pairsOf(
        turns,
        ({ ms }) => ms,
        (ours, floor) => ours / floor,
      ),
    }),
    findingOf({
      measure: `batches processor, ${what}: time of the api and of PostgreSQL, which other work on the machine hardly changes (absolute)`,
      unit: 'ms',
      sideUnit: 'ms',
      isHigherBetter: false,
      gate: jobs * MS_PER_JOB,
      goal: jobs * GOAL_MS_PER_JOB,
      pairs: pairsOf(
        turns,
        ({ processorMs }) => processorMs,
        (ours) => ours,
      ),
    }),
  ];
}
