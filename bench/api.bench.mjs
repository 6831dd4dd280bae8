import { findingOf, measurePairs } from './lib/pairs.mjs';

/** @typedef {import('./lib/bench.js').BenchContext} BenchContext */

/** Of each side of a pair. */
const SECONDS = 2;
const FREE = {
  MILLRACE_QUEUE_LIMIT_PER_ACCOUNT: '1000000',
  MILLRACE_QUEUE_LIMIT_PER_POOL: '10000000',
  MILLRACE_RATE_LIMIT_PER_MINUTE: '100000000',
  MILLRACE_FAILED_AUTH_PER_MINUTE: '1000000',
};

/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'api',
  title: 'what HTTP, checks and framework cost over the statement behind them (P1, P12, P16)',
  async run(context) {
    const stack = await context.startStack({ workers: 0, settings: FREE });
    const load = await context.startLoad('api.load.mjs');
    const floor = await context.startLoad('api.floor.mjs');
    const bareUrl = /** @type {string} */ (await floor.call('listen', {}));
    await load.call('prepare', { ...stack, bareUrl });
    for (const side of ['submissionsPerSecond', 'bareCommitsPerSecond', 'bareInsertsPerSecond']) {
      await load.call(side, { seconds: context.flags.warmUpSeconds });
    }
    /** @param {string} ours @param {string} floor @param {object} [more] @param {object} [moreOfFloor] */
    const ratio = (ours, floor, more = {}, moreOfFloor = {}) =>
      measurePairs({
        pairs: context.flags.pairs,
        ours: () => load.call(ours, { seconds: SECONDS, ...more }),
        floor: () => load.call(floor, { seconds: SECONDS, ...moreOfFloor }),
        compare: (one, other) => one / other,
      });
    const common = { unit: 'ratio', sideUnit: 'per second', isHigherBetter: true };
    return [
      findingOf({
        ...common,
        measure: 'P1 submit: POST /jobs over its one statement committed bare, 32 at once',
        gate: 0.8,
        goal: 1.2,
        pairs: await ratio('submissionsPerSecond', 'bareCommitsPerSecond'),
      }),
      findingOf({
        ...common,
        measure:
          'P1 submit: POST /jobs over the simplest durable commit of the same bytes (one insert of the graph), 32 at once',
        gate: null,
        goal: 0.8,
        pairs: await ratio('submissionsPerSecond', 'bareInsertsPerSecond'),
      }),
      findingOf({
        ...common,
        measure: 'P16 one account: POST /jobs of one account over the same spread over 100, 32 at once',
        gate: 0.7,
        goal: 0.9,
        pairs: await ratio('submissionsPerSecond', 'submissionsPerSecond', { of: 1 }),
      }),
      findingOf({
        ...common,
        measure: 'P12 reject: 401 over the path that accepts',
        gate: 5,
        goal: 8,
        pairs: await ratio('refusalsPerSecond', 'submissionsPerSecond', { status: 401 }),
      }),
      findingOf({
        ...common,
        measure: 'P12 reject: 422 invalid_workflow over the path that accepts',
        gate: 4,
        goal: 6,
        pairs: await ratio('refusalsPerSecond', 'submissionsPerSecond', { status: 422 }),
      }),
      findingOf({
        ...common,
        measure: 'P12 reject: 401 over a bare node:http server that refuses the same requests unread',
        gate: null,
        goal: 0.8,
        pairs: await ratio('refusalsPerSecond', 'bareRefusalsPerSecond', { status: 401 }, { status: 401 }),
      }),
      findingOf({
        ...common,
        measure: 'P12 reject: 422 over a bare node:http server that parses the same requests and refuses them',
        gate: null,
        goal: 0.8,
        pairs: await ratio('refusalsPerSecond', 'bareRefusalsPerSecond', { status: 422 }, { status: 422 }),
      }),
    ];
  },
};
