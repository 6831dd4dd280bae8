import { findingOf, pairsOf, quantile, takeTurns } from './lib/pairs.mjs';

/** @typedef {import('./lib/bench.js').BenchContext} BenchContext */

/** Of each side of a pair. */
const JOBS = 100;

/**
 * The engine is the simulator of ComfyUI, in the process that submits: an acceptance and the prompt that follows it are read
 * off one monotonic clock, and none of the service's own records is used. The service takes a worker with the engine
 * adapter that production has. Both sides go through the same Redis, one job at a time, each to an idle worker.
 */
/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'dispatch',
  title: 'how soon an accepted job enters an idle engine, over a job of bare BullMQ (P4)',
  async run(context) {
    const load = await context.startLoad('dispatch.load.mjs');
    const folders = Object.fromEntries(
      ['input', 'output', 'temp'].map((name) => [name, context.folder.at('comfyui', name)]),
    );
    /** @type {string} */
    const url = await load.call('startEngine', { folders });
    const stack = await context.startStack({
      settings: {
        MILLRACE_ENGINE: 'comfyui',
        MILLRACE_COMFYUI_URL: url,
        MILLRACE_RATE_LIMIT_PER_MINUTE: '100000000',
      },
    });
    await load.call('prepare', stack);
    const turns = await takeTurns({
      pairs: context.flags.pairs,
      ours: () => load.call('entriesMs', { jobs: JOBS }),
      floor: () => load.call('bareStartsMs', { jobs: JOBS }),
    });
    const finding = (/** @type {string} */ name, /** @type {number} */ share, /** @type {number[]} */ [gate, goal]) =>
      findingOf({
        measure: `P4 dispatch ${name}: from the answer 201 to the prompt's acceptance by an idle ComfyUI (simulated), over bare BullMQ from calling add to the processor's start, ${JOBS} one by one a side`,
        unit: 'ratio',
        sideUnit: 'ms',
        isHigherBetter: false,
        gate: gate ?? NaN,
        goal: goal ?? NaN,
        pairs: pairsOf(
          turns,
          (/** @type {number[]} */ times) => quantile(times, share),
          (ours, floor) => ours / floor,
        ),
      });
    return [finding('p50', 0.5, [5, 3]), finding('p99', 0.99, [5, 3])];
  },
};
