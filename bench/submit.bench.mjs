import { findingOf, measurePairs, quantile } from './lib/pairs.mjs';

/** Of each side of a pair. */
const SECONDS = 2;
/** Enough arrivals that a hundredth of them is more than one. */
const LATENCY_SECONDS = 4;
/** How often saturation is measured, after once to warm up. */
const SATURATIONS = 3;
const FREE = {
  MILLRACE_QUEUE_LIMIT_PER_ACCOUNT: '1000000',
  MILLRACE_QUEUE_LIMIT_PER_POOL: '10000000',
  MILLRACE_RATE_LIMIT_PER_MINUTE: '100000000',
};

/** @typedef {'post' | 'bare' | 'pgBoss' | 'graphileWorker'} Act */

/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'submit',
  title: 'submissions beside what other queues on PostgreSQL do in-process, and their latency under load (P2, P3)',
  async run(context) {
    const stack = await context.startStack({ workers: 0, settings: FREE });
    const load = await context.startLoad('submit.load.mjs');
    await load.call('prepare', stack);
    for (const act of ['post', 'bare', 'pgBoss', 'graphileWorker']) {
      await load.call('perSecond', { act, seconds: context.flags.warmUpSeconds });
    }
    const { pairs } = context.flags;
    const rate = (/** @type {Act} */ act) =>
      /** @type {Promise<number>} */ (load.call('perSecond', { act, seconds: SECONDS }));
    const p99 = (/** @type {Act} */ act, /** @type {number} */ saturation) =>
      /** @type {Promise<number>} */ (load.call('p99Ms', { act, perSecond: saturation / 2, seconds: LATENCY_SECONDS }));
    const rates = (/** @type {Act} */ peer) =>
      measurePairs({ pairs, ours: () => rate('post'), floor: () => rate(peer), compare: (one, other) => one / other });
    const beside = { unit: 'ratio', sideUnit: 'per second', isHigherBetter: true };
    const findings = [
      findingOf({
        ...beside,
        measure: "P2 submit: POST /jobs over pg-boss's send in-process, 5 KB each, 32 at once",
        gate: 0.8,
        goal: 1.2,
        pairs: await rates('pgBoss'),
      }),
      findingOf({
        ...beside,
        measure: "P2 submit: POST /jobs over graphile-worker's addJob in-process, 5 KB each, 32 at once",
        gate: 1.5,
        goal: 2.5,
        pairs: await rates('graphileWorker'),
      }),
    ];
    const saturations = await measurePairs({
      pairs: SATURATIONS,
      ours: () => rate('post'),
      floor: () => rate('bare'),
      compare: (one, other) => one / other,
    });
    const median = (/** @type {'ours' | 'floor'} */ side) =>
      quantile(
        saturations.map((pair) => pair[side]),
        0.5,
      );
    const latency = await measurePairs({
      pairs,
      ours: () => p99('post', median('ours')),
      floor: () => p99('bare', median('floor')),
      compare: (one, other) => one / other,
    });
    const rounded = { ours: Math.round(median('ours') / 2), floor: Math.round(median('floor') / 2) };
    findings.push(
      findingOf({
        measure: `P3 latency: p99 of POST /jobs at half of its saturation (${rounded.ours}/s) over p99 of the bare statement at half of its own (${rounded.floor}/s), timed from when each was due`,
        unit: 'ratio',
        sideUnit: 'ms',
        isHigherBetter: false,
        gate: 2,
        goal: 1.5,
        pairs: latency,
      }),
    );
    return findings;
  },
};
