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
const LIVES_PER_SECOND = 100;
/**
 * `grown`: jobs. `openSeconds`: how long the transaction is open when measuring begins, while jobs live. `submissions` and
 * `claims`: of each side of a pair.
 */
const FULL = { grown: { finished: 1_000_000, queued: 100_000 }, openSeconds: 180, submissions: 1_000, claims: 1_000 };
const QUICK = { grown: { finished: 100_000, queued: 10_000 }, openSeconds: 30, submissions: 300, claims: 300 };
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
    const sizes = context.flags.quick ? QUICK : FULL;
    const grown = { accounts: ACCOUNTS, ...sizes.grown };
    const url = await startServer(context);
    const load = await context.startLoad('growth.load.mjs');
    const ageing = await context.startLoad('growth.load.mjs');
    await copyDatabase(url, DATABASE, 'small');
    await copyDatabase(url, DATABASE, 'grown');
    await load.call('plant', { url: url('small'), ...SMALL });
    await load.call('audit', { url: url('small') });
    await copyDatabase(url, 'small', 'held');
    await copyDatabase(url, 'small', 'free');
    const age = { held: url('held'), free: url('free'), perSecond: LIVES_PER_SECOND, seconds: sizes.openSeconds };
    const [lives] = await task(context.scope, `Planting ${grown.finished} jobs, and ageing under a transaction`, () =>
      Promise.all([
        /** @type {Promise<number>} */ (ageing.call('ageUnderTransaction', age)),
        load.call('plant', { url: url('grown'), ...grown }),
      ]),
    );
    const held = {
      ours: url('held'),
      floor: url('free'),
      name: 'open transaction',
      what: `with a transaction open since ${sizes.openSeconds} s and ${lives} lives of jobs before, over without it`,
    };
    const aged = {
      ours: url('grown'),
      floor: url('small'),
      name: 'grown',
      what: `with ${grown.finished} finished and ${grown.queued} queued jobs, over ${SMALL.finished} and ${SMALL.queued}`,
    };
    return [...(await compare(context, load, held, sizes)), ...(await compare(context, load, aged, sizes))];
  },
};

/**
 * Lists come between: the accounts of both databases then have as many new jobs waiting as a page shows.
 *
 * @param {BenchContext} context
 * @param {Load} load
 * @param {{ ours: string, floor: string, name: string, what: string }} databases
 * @param {{ submissions: number, claims: number }} sizes
 */
async function compare({ flags }, load, { ours, floor, name, what }, { submissions, claims }) {
  const findings = [];
  for (const { rated, act, input } of [
    { rated: 'submit', act: 'submissionsPerSecond', input: { count: submissions } },
    { rated: 'list', act: 'listsPerSecond', input: { seconds: LIST_SECONDS } },
    { rated: 'claim', act: 'claimsPerSecond', input: { count: claims } },
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
        measure: `P9 ${rated}, ${name}: the service's statements ${what}`,
        unit: 'ratio',
        sideUnit: 'per second',
        isHigherBetter: true,
        gate: 0.85,
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
