import { findingOf, pairsOf, takeTurns } from './lib/pairs.mjs';

/** @typedef {import('./load/webhooks.load.mjs').Latency} Latency */

/** Ended jobs of each account; each is a message to each of its ten endpoints, of which there are fifty. */
const JOBS_PER_ACCOUNT = { full: 200, quick: 40 };
const SETTINGS = {
  MILLRACE_RATE_LIMIT_PER_MINUTE: '100000000',
  MILLRACE_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
};

/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'webhooks',
  title: 'how soon webhooks arrive beside a dead receiver and a slow one, over the same with all well',
  async run({ startStack, startLoad, flags }) {
    const stack = await startStack({ workers: 0, settings: SETTINGS });
    const load = await startLoad('webhooks.load.mjs');
    await load.call('prepare', stack);
    const jobs = flags.quick ? JOBS_PER_ACCOUNT.quick : JOBS_PER_ACCOUNT.full;
    const turn = (/** @type {boolean} */ sick) =>
      /** @type {Promise<Latency>} */ (load.call('deliver', { sick, jobsPerAccount: jobs }));
    const turns = await takeTurns({ pairs: flags.pairs, ours: () => turn(true), floor: () => turn(false) });
    return [
      findingOf({
        measure: `webhooks p99: from the end of a job to its message at an endpoint that is well, ${jobs * 50} messages at 500 a second to 50 endpoints, one of them dead and one of 3 s (absolute)`,
        unit: 'ms',
        sideUnit: 'ms',
        isHigherBetter: false,
        gate: 2_000,
        goal: 1_000,
        pairs: pairsOf(
          turns,
          ({ p99 }) => p99,
          (ours) => ours,
        ),
      }),
      findingOf({
        measure: 'webhooks beside sick ones: the same p99 over that with all 50 well',
        unit: 'ratio',
        sideUnit: 'ms',
        isHigherBetter: false,
        gate: 2,
        goal: 1.2,
        pairs: pairsOf(
          turns,
          ({ p99 }) => p99,
          (ours, floor) => ours / floor,
        ),
      }),
    ];
  },
};
