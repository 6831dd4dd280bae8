import { findingOf, pairsOf, takeTurns } from './lib/pairs.mjs';

/** @typedef {{ perSecond: number }} Lives */

const JOBS = { full: 300, quick: 100 };
const WORKERS = 2;
/** Just below the default of MILLRACE_MAX_WORKFLOW_BYTES. */
const GRAPH_BYTES = 10_000_000;
const SETTINGS = {
  MILLRACE_QUEUE_LIMIT_PER_ACCOUNT: '1000000',
  MILLRACE_QUEUE_LIMIT_PER_POOL: '10000000',
  MILLRACE_RATE_LIMIT_PER_MINUTE: '100000000',
  MILLRACE_WORKER_CAPACITY: '4',
};

/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'large',
  title: 'what one account that submits graphs of 10 MB costs the jobs of others (P7)',
  async run({ flags, startStack, startLoad }) {
    const stack = await startStack({ workers: WORKERS, settings: SETTINGS });
    const [small, large] = [await startLoad('life.load.mjs'), await startLoad('large.load.mjs')];
    await small.call('prepare', stack);
    await large.call('prepare', { ...stack, graphBytes: GRAPH_BYTES });
    const jobs = flags.quick ? JOBS.quick : JOBS.full;
    const lives = async () => {
      const { perSecond } = /** @type {Lives} */ (await small.call('lives', { jobs }));
      return { perSecond, graphs: 0 };
    };
    const crowded = async () => {
      await large.call('begin', {});
      const startedAt = performance.now();
      const { perSecond } = await lives();
      const seconds = (performance.now() - startedAt) / 1_000;
      return { perSecond, graphs: /** @type {number} */ (await large.call('end', {})) / seconds };
    };
    const turns = await takeTurns({ pairs: flags.pairs, ours: crowded, floor: lives });
    return [
      findingOf({
        measure: `P7 large graphs: whole lives of ${jobs} trivial jobs (32 at once, 100 accounts, ${WORKERS} workers) while another account submits graphs of 10 MB, one after the other, over the same without it`,
        unit: 'ratio',
        sideUnit: 'per second',
        isHigherBetter: true,
        gate: 0.9,
        goal: 1,
        pairs: pairsOf(
          turns,
          ({ perSecond }) => perSecond,
          (ours, floor) => ours / floor,
        ),
      }),
      findingOf({
        measure: 'P7 large graphs accepted: of the other account meanwhile (absolute; the floor has none)',
        unit: 'per second',
        sideUnit: 'per second',
        isHigherBetter: true,
        // Who refused them all would lose nothing by them.
        gate: 0.3,
        goal: 1,
        pairs: pairsOf(
          turns,
          ({ graphs }) => graphs,
          (ours) => ours,
        ),
      }),
    ];
  },
};
