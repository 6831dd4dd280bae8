import { task } from '../scripts/lib/command/index.mjs';
import { migrate } from '../scripts/lib/prisma/index.mjs';
import { readSecrets, startServers } from '../scripts/lib/servers/index.mjs';
import { findingOf, pairsOf, takeTurns } from './lib/pairs.mjs';

/** @typedef {import('./lib/bench.js').Load} Load */
/** @typedef {import('./load/scale.load.mjs').Heartbeats} Heartbeats */
/** @typedef {import('./load/scale.load.mjs').Plan} Plan */

const PROCESSES = 8;
const FEW_ACCOUNTS = 10;
const HEARTBEAT_EVERY_SECONDS = 3;
/** Jobs that a pool has for each second in which it dispatches: more than can be. */
const MOST_PER_SECOND = 6_000;
const FULL = { accounts: 100_000, workers: 10_000, seconds: 3 };
const QUICK = { accounts: 10_000, workers: 2_000, seconds: 1 };

/**
 * The service's own dispatcher, in processes of their own, on a real PostgreSQL and a real lane. The workers are rows, and one
 * statement that ends what is in the lane: what is measured is how fast turns can be given. Each figure is the service's own
 * under the larger load, beside the same service under the smaller one.
 *
 * @type {import('./lib/bench.js').Bench}
 */
export const bench = {
  name: 'scale',
  title: 'what many accounts, workers and dispatching processes cost one pool, and heartbeats PostgreSQL (P15)',
  async run({ fleet, folder, flags, scope, startLoad }) {
    const { accounts, workers, seconds } = flags.quick ? QUICK : FULL;
    const secrets = readSecrets(folder.at('secrets.json'));
    const servers = await startServers(fleet, {}, { secrets, throwaway: true });
    await migrate(scope, servers.databaseUrl);
    const postgres = pidOf(fleet, 'postgres');
    const loads = await Promise.all(Array.from({ length: PROCESSES }, () => startLoad('scale.load.mjs')));
    const [first, releasing] = [/** @type {Load} */ (loads[0]), await startLoad('scale.load.mjs')];
    for (const load of [...loads, releasing]) await load.call('prepare', servers);

    // Of one side of a measure; the pool of few accounts is four of them.
    const jobs = (flags.pairs + 1) * seconds * MOST_PER_SECOND;
    const plans = {
      few: { ...planOf('few', FEW_ACCOUNTS, 4 * jobs), workers: 1, capacity: workers },
      many: { ...planOf('many', accounts, jobs), workers: 1, capacity: workers },
      staffed: { ...planOf('staffed', FEW_ACCOUNTS, jobs), workers, capacity: 1 },
    };
    await task(scope, `Planting ${6 * jobs} jobs`, async () => {
      for (const plan of Object.values(plans)) await releasing.call('plant', plan);
    });
    const rate = async (/** @type {Plan} */ { pool }, /** @type {Load[]} */ dispatching) => {
      const [rates] = await Promise.all([
        Promise.all(
          dispatching.map((load) => /** @type {Promise<number>} */ (load.call('dispatch', { pool, seconds }))),
        ),
        releasing.call('release', { pool, seconds }),
      ]);
      if ((await releasing.call('countWaiting', { pool })) === 0) throw new Error(`${pool} ran out of jobs`);
      return rates.reduce((sum, each) => sum + each, 0);
    };
    const { pairs } = flags;
    const alone = [first];
    const wide = await takeTurns({
      pairs,
      ours: () => rate(plans.many, alone),
      floor: () => rate(plans.few, alone),
    });
    const staffed = await takeTurns({
      pairs,
      ours: () => rate(plans.staffed, alone),
      floor: () => rate(plans.few, alone),
    });
    const contended = await takeTurns({
      pairs,
      ours: () => rate(plans.few, loads),
      floor: () => rate(plans.few, alone),
    });
    const beats = (/** @type {number} */ count) =>
      /** @type {Promise<Heartbeats>} */ (first.call('heartbeats', { workers: count, seconds, postgres }));
    const hearts = await takeTurns({ pairs, ours: () => beats(workers), floor: () => beats(FEW_ACCOUNTS) });

    const itself = (/** @type {number} */ side) => side;
    const ours = (/** @type {number} */ one) => one;
    const ratio = (/** @type {number} */ one, /** @type {number} */ other) => one / other;
    const rates = { sideUnit: 'per second', isHigherBetter: true };
    return [
      findingOf({
        ...rates,
        measure: `P15 few accounts: jobs dispatched by one process for one pool with ${FEW_ACCOUNTS} busy accounts (absolute)`,
        unit: 'per second',
        gate: 1_000,
        goal: 3_000,
        pairs: pairsOf(wide, itself, (_, floor) => floor),
      }),
      findingOf({
        ...rates,
        measure: `P15 many accounts: the same with ${accounts} busy accounts (absolute; the floor has ${FEW_ACCOUNTS})`,
        unit: 'per second',
        gate: 500,
        goal: 2_000,
        pairs: pairsOf(wide, itself, ours),
      }),
      findingOf({
        ...rates,
        measure: `P15 workers: jobs dispatched for a pool with ${workers} workers, over one with one worker that runs as many at once`,
        unit: 'ratio',
        gate: 0.9,
        goal: 1,
        pairs: pairsOf(staffed, itself, ratio),
      }),
      findingOf({
        ...rates,
        measure: `P15 processes: jobs dispatched by ${PROCESSES} processes for one pool, over one process`,
        unit: 'ratio',
        gate: 0.9,
        goal: 1,
        pairs: pairsOf(contended, itself, ratio),
      }),
      findingOf({
        ...rates,
        measure: `P15 heartbeats: those of ${workers} workers that PostgreSQL records over ten connections, over those that so many send (one in ${HEARTBEAT_EVERY_SECONDS} s each)`,
        unit: 'ratio',
        gate: 0.5,
        goal: 1,
        pairs: pairsOf(
          hearts,
          ({ perSecond }) => perSecond,
          (recorded) => (recorded * HEARTBEAT_EVERY_SECONDS) / workers,
        ),
      }),
      findingOf({
        measure: `P15 heartbeat cost: processor time of PostgreSQL for one, with ${workers} workers, over one of ${FEW_ACCOUNTS}`,
        unit: 'ratio',
        sideUnit: 'ms',
        isHigherBetter: false,
        gate: 1.25,
        goal: 1,
        pairs: pairsOf(hearts, ({ processorMs }) => processorMs, ratio),
      }),
    ];
  },
};

/**
 * @param {string} pool
 * @param {number} accounts
 * @param {number} jobs
 */
function planOf(pool, accounts, jobs) {
  return { pool: `bench-${pool}`, accounts, jobsOfEach: Math.ceil(jobs / accounts) };
}

/**
 * @param {import('../scripts/lib/services/fleet.mjs').Fleet} fleet
 * @param {string} role
 */
function pidOf(fleet, role) {
  const pid = fleet.services.find(({ spec }) => spec.role === role)?.identity?.pid;
  if (pid === undefined) throw new Error(`no ${role} runs`);
  return pid;
}
