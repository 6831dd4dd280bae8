import { findingOf, pairsOf, takeTurns } from './lib/pairs.mjs';

/**
 * @typedef {import('./lib/bench.js').BenchContext} BenchContext
 * @typedef {import('./load/fairness.load.mjs').Contest} Contest
 */

const HEAVY = 10_000;
const LIGHT = 10;
const LIGHT_ACCOUNTS = 4;
const ACCOUNTS = 1 + LIGHT_ACCOUNTS;
/** Of the queue's start: time enough for all that compete, and to let a difference of a few hundredths show. */
const DRAINED = 500;

/**
 * Four workers without an engine: each takes messages from its BullMQ lane, claims in PostgreSQL, and ends the job at once,
 * with the service's own dispatcher, claims and endings. Real engines would drain the same queue in the same order, and take longer
 * than a bench may. FIFO is the same queue, and the same statements, under one account. The jobs are queued by one statement
 * and cost nothing, and what is measured is how the queue's first jobs are drained once all accounts are there: what comes
 * after is one account's queue on either side.
 */
/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'fairness',
  title: 'what one account that queues thousands costs the others, and fairness costs over FIFO (P7)',
  async run(context) {
    const stack = await context.startStack({ workers: 0 });
    const load = await context.startLoad('fairness.load.mjs');
    await load.call('prepare', stack);
    const turns = await takeTurns({
      pairs: context.flags.pairs,
      ours: () => load.call('contest', { heavy: HEAVY, light: Array(LIGHT_ACCOUNTS).fill(LIGHT), drained: DRAINED }),
      floor: () => load.call('contest', { heavy: HEAVY + LIGHT_ACCOUNTS * LIGHT, light: [], drained: DRAINED }),
    });
    const queues = `A queues ${HEAVY}, B to E ${LIGHT} each once A's jobs fill the lane, 4 workers`;
    const pairs = (
      /** @type {(contest: Contest) => number} */ figure,
      /** @type {(ours: number, floor: number) => number} */ compare,
    ) => pairsOf(turns, figure, compare);
    return [
      findingOf({
        measure: `P7 first start: the worst place of B to E among the starts after they came, over the number of accounts (${queues}; the floor's place is that number)`,
        unit: 'ratio',
        sideUnit: 'place',
        isHigherBetter: false,
        gate: 2,
        goal: 1,
        pairs: pairs(
          ({ firstPlace }) => firstPlace ?? ACCOUNTS,
          (ours, floor) => ours / floor,
        ),
      }),
      findingOf({
        measure: `P7 shares: Jain's index over the starts of all accounts until one has no more (${queues}; 1 is equal shares)`,
        unit: 'index',
        sideUnit: 'index',
        isHigherBetter: true,
        gate: 0.9,
        goal: 0.98,
        pairs: pairs(
          ({ jainIndex }) => jainIndex ?? 1,
          (ours) => ours,
        ),
      }),
      findingOf({
        measure: `P7 drain: time for the first ${DRAINED} of ${HEAVY + LIGHT_ACCOUNTS * LIGHT} jobs, dispatched, claimed and ended without an engine, over as many of one account, which is FIFO (${queues})`,
        unit: 'ratio',
        sideUnit: 's',
        isHigherBetter: false,
        gate: 1.05,
        goal: 1,
        pairs: pairs(
          ({ seconds }) => seconds,
          (ours, floor) => ours / floor,
        ),
      }),
    ];
  },
};
