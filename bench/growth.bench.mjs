import { randomBytes } from 'node:crypto';
import { task } from '../scripts/lib/command/index.mjs';
import { DATABASE, seedFolder, startPostgres } from '../scripts/lib/postgres/index.mjs';
import { onDatabase } from '../scripts/lib/prisma/index.mjs';
import { Fleet } from '../scripts/lib/services/index.mjs';
import { findingOf, measurePairs } from './lib/pairs.mjs';

/** @typedef {import('./lib/bench.js').BenchContext} BenchContext */
/** @typedef {import('./lib/bench.js').Load} Load */

const ACCOUNTS = 100;
const SMALL = { accounts: ACCOUNTS, finished: 1_000, queued: 100 };
const GROWN = { accounts: ACCOUNTS, finished: 1_000_000, queued: 100_000 };
/** How long the transaction is open when measuring begins, and how many jobs a second live meanwhile. */
const OPEN_SECONDS = 180;
const LIVES_PER_SECOND = 100;
/** Of each side of a pair. */
const SUBMISSIONS = 1_000;
const CLAIMS = 500;
const LIST_SECONDS = 1;

/**
 * Four databases on one server: a small one, the same grown, and two copies of the small one, of which one has a transaction
 * open. A snapshot keeps what is dead in its own database only, so that each can be measured beside the other in turns.
 *
 * @type {import('./lib/bench.js').Bench}
 */
export const bench = {
  name: 'growth',
  title: 'what a million finished jobs cost, and a transaction that stays open (P9)',
  async run(context) {
    const url = await startServer(context);
    const load = await context.startLoad('growth.load.mjs');
    const ageing = await context.startLoad('growth.load.mjs');
    await copyDatabase(url, DATABASE, 'small');
    await copyDatabase(url, DATABASE, 'grown');
    await load.call('plant', { url: url('small'), ...SMALL });
    await load.call('audit', { url: url('small') });
    await copyDatabase(url, 'small', 'held');
    await copyDatabase(url, 'small', 'free');
    const age = { held: url('held'), free: url('free'), perSecond: LIVES_PER_SECOND, seconds: OPEN_SECONDS };
    const [lives] = await task(context.scope, 'Planting a million jobs, and ageing under a transaction', () =>
      Promise.all([
        /** @type {Promise<number>} */ (ageing.call('ageUnderTransaction', age)),
        load.call('plant', { url: url('grown'), ...GROWN }),
      ]),
    );
    const under = `with a transaction open since ${OPEN_SECONDS} s and ${lives} lives of jobs before`;
    return [
      ...(await compare(context, load, { ours: url('held'), floor: url('free'), what: `${under}, over without it` })),
      ...(await compare(context, load, {
        ours: url('grown'),
        floor: url('small'),
        what: 'with 1,000,000 finished and 100,000 queued jobs, over 1,000 and 100',
      })),
    ];
  },
};

/**
 * Lists come between: the accounts of both databases then have as many new jobs waiting as a page shows.
 *
 * @param {BenchContext} context
 * @param {Load} load
 * @param {{ ours: string, floor: string, what: string }} databases
 */
async function compare({ flags }, load, { ours, floor, what }) {
  const findings = [];
  for (const { name, act, input } of [
    { name: 'submit', act: 'submissionsPerSecond', input: { count: SUBMISSIONS } },
    { name: 'list', act: 'listsPerSecond', input: { seconds: LIST_SECONDS } },
    { name: 'claim', act: 'claimsPerSecond', input: { count: CLAIMS } },
  ]) {
    const rate = (/** @type {string} */ url) => /** @type {Promise<number>} */ (load.call(act, { url, ...input }));
    const pairs = await measurePairs({
      pairs: flags.pairs,
      ours: () => rate(ours),
      floor: () => rate(floor),
      compare: (one, other) => one / other,
    });
    findings.push(
      findingOf({
        measure: `P9 ${name}: the service's statements ${what}`,
        unit: 'ratio',
        sideUnit: 'per second',
        isHigherBetter: true,
        gate: 0.7,
        goal: 0.95,
        pairs,
      }),
    );
  }
  return findings;
}

/**
 * A PostgreSQL with nothing beside it: no process of the service reads or writes what is measured.
 *
 * @param {BenchContext} context
 * @returns {Promise<(database: string) => string>} the URL of a database
 */
async function startServer({ scope, folder }) {
  const seed = await seedFolder(scope);
  const password = randomBytes(24).toString('hex');
  const { url } = await startPostgres(new Fleet(scope, folder), { password, seed });
  return url;
}

/**
 * @param {(database: string) => string} url
 * @param {string} from nobody is connected to it
 * @param {string} to
 */
async function copyDatabase(url, from, to) {
  await onDatabase(url('postgres'), (client) => client.query(`CREATE DATABASE ${to} TEMPLATE ${from}`));
}
