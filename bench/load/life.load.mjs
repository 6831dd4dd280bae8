import pg from 'pg';
import { anyOf, makeAccounts } from '../lib/accounts.mjs';
import { openClient, submit } from '../lib/http.mjs';
import { processorMs } from '../lib/process-facts.mjs';
import { CONCURRENCY, rateOf, rateOfCount } from '../lib/rate.mjs';
import { bareStatements, recordJob } from '../lib/recording.mjs';

/** @typedef {import('../lib/accounts.mjs').Stack} Stack */

const ACCOUNTS = 100;
/** Nobody works for it: what is recorded bare stays in its queue. */
const IDLE_POOL = 'bench-idle';
const POLL_MS = 20;
const LIMIT_MS = 120_000;
/** The least that an engine can be given: one node, whose output is a text of two bytes. */
const WORKFLOW = {
  1: { class_type: 'PrimitiveString', inputs: { value: 'ok' } },
  2: { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
};
const BODY = JSON.stringify({ workflow: WORKFLOW, metadata: { label: 'bench' } });

/** @type {import('../lib/http.mjs').Send} */
let send;
/** @type {import('../lib/accounts.mjs').Account[]} */
let accounts = [];
/** @type {pg.Pool} */
let pool;
/** Of all that serves. @type {number[]} */
let pids = [];

/** @param {Stack & { processes: { pid: number }[] }} stack */
export async function prepare(stack) {
  pids = stack.processes.map(({ pid }) => pid);
  send = openClient(stack.publicUrl, CONCURRENCY);
  pool = new pg.Pool({ connectionString: stack.databaseUrl, max: CONCURRENCY });
  await pool.query("INSERT INTO pools (id, engine) VALUES ($1, 'cpu')", [IDLE_POOL]);
  accounts = await makeAccounts(stack, ACCOUNTS);
}

/**
 * @param {{ jobs: number }} input
 * @returns {Promise<number>} whole lives per second, from the first request to the last end
 */
async function livesPerSecond({ jobs }) {
  /** @type {string[]} */
  const ids = [];
  const startedAt = performance.now();
  await rateOfCount(jobs, async () => ids.push(await submit(send, anyOf(accounts).key, BODY)));
  await untilEnded(ids);
  const seconds = (performance.now() - startedAt) / 1_000;
  await assertSettled(ids);
  return jobs / seconds;
}

/**
 * Live lives, and look at what they cost: transactions that wrote, and processor time of all processes of the service, of
 * PostgreSQL and of Redis; the clients' is not among them.
 *
 * @param {{ jobs: number }} input
 * @returns {Promise<{ perSecond: number, commits: number, processorMs: number }>} the last two of each job
 */
export async function lives({ jobs }) {
  const before = { commits: await transactions(), ms: processorMs(pids) };
  const perSecond = await livesPerSecond({ jobs });
  return {
    perSecond,
    commits: ((await transactions()) - before.commits) / jobs,
    processorMs: (processorMs(pids) - before.ms) / jobs,
  };
}

/** The same of bare statements of a submission. @param {{ seconds: number }} input */
export async function bareCommits({ seconds }) {
  const before = { commits: await transactions(), ms: processorMs(pids), at: performance.now() };
  const perSecond = await bareCommitsPerSecond({ seconds });
  const count = (perSecond * (performance.now() - before.at)) / 1_000;
  return {
    perSecond,
    commits: ((await transactions()) - before.commits) / count,
    processorMs: (processorMs(pids) - before.ms) / count,
  };
}

/** How many transactions have been given a number so far, which one that only reads is not. @returns {Promise<number>} */
async function transactions() {
  /** @type {import('pg').QueryResult<{ count: string }>} */
  const { rows } = await pool.query('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS count');
  return Number(rows[0]?.count);
}

/** Looks at one job at a time: what looking costs PostgreSQL is no part of a life. @param {string[]} ids */
async function untilEnded(ids) {
  const until = performance.now() + LIMIT_MS;
  for (let left = ids; left.length > 0; left = await notEnded(left)) {
    while ((await notEnded(left.slice(-1))).length > 0) {
      if (performance.now() > until) throw new Error(`${left.length} of ${ids.length} jobs have not ended in time`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/** @param {string[]} ids @returns {Promise<string[]>} those of them whose jobs have not ended */
async function notEnded(ids) {
  /** @type {import('pg').QueryResult<{ id: string }>} */
  const { rows } = await pool.query({
    name: 'left',
    text: "SELECT id FROM jobs WHERE id = ANY($1::uuid[]) AND delivery <> 'done'",
    values: [ids],
  });
  return rows.map(({ id }) => id);
}

/** Each has succeeded, held credits and given them back or spent them. @param {string[]} ids */
async function assertSettled(ids) {
  /** @type {import('pg').QueryResult<{ settled: number }>} */
  const { rows } = await pool.query(
    `SELECT count(*)::int AS settled FROM jobs j
     WHERE j.id = ANY($1::uuid[]) AND j.status = 'succeeded' AND j.held_micros > 0
       AND EXISTS (SELECT FROM ledger_transactions t WHERE t.job_id = j.id AND t.kind IN ('settle', 'release'))`,
    [ids],
  );
  const settled = rows[0]?.settled ?? 0;
  if (settled !== ids.length) {
    throw new Error(`only ${settled} of ${ids.length} jobs have succeeded and settled`);
  }
}

/** The statement that a submission is, alone. @param {{ seconds: number }} input */
function bareCommitsPerSecond({ seconds }) {
  const statements = bareStatements(pool, 'submission');
  const same = { poolId: IDLE_POOL, graph: JSON.stringify(WORKFLOW), nodeCount: 2 };
  return rateOf(seconds, () => recordJob(statements, anyOf(accounts).id, same));
}
