import { findingOf, measurePairs } from './lib/pairs.mjs';

/** @typedef {import('./lib/bench.js').BenchContext} BenchContext */
/** @typedef {import('./load/polls.load.mjs').State} State */

/** Of each side of a pair. */
const SECONDS = 2;
const SETTINGS = { MILLRACE_RATE_LIMIT_PER_MINUTE: '100000000' };
const STATES = /** @type {const} */ (['queued', 'running', 'finished']);

/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'polls',
  title: 'what a poll of a job costs over a bare select by id (P13)',
  async run(context) {
    const stack = await context.startStack({ workers: 0, settings: SETTINGS });
    const load = await context.startLoad('polls.load.mjs');
    await load.call('prepare', stack);
    const warmUpSeconds = context.flags.warmUpSeconds / STATES.length;
    for (const state of STATES) await load.call('pollsPerSecond', { state, seconds: warmUpSeconds });
    const measures = STATES.flatMap((state) => [
      { state, conditional: false },
      { state, conditional: true },
    ]);
    const findings = [];
    for (const { state, conditional } of measures) {
      findings.push(
        findingOf({
          measure: `P13 poll of a ${state} job${conditional ? ' with If-None-Match' : ''}, one of many, over a bare select by id, 32 at once`,
          unit: 'ratio',
          sideUnit: 'per second',
          isHigherBetter: true,
          gate: conditional ? 0.7 : 0.5,
          goal: conditional ? 1 : 0.7,
          pairs: await measurePairs({
            pairs: context.flags.pairs,
            ours: () => load.call('pollsPerSecond', { state, conditional, seconds: SECONDS }),
            floor: () => load.call('bareSelectsPerSecond', { state, seconds: SECONDS }),
            compare: (one, other) => one / other,
          }),
        }),
      );
    }
    return findings;
  },
};
