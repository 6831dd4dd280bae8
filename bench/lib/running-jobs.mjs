import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import pg from 'pg';
import { makeAccounts } from './accounts.mjs';
import { POOL, plantPool } from './graph.mjs';
import { openClient, submit } from './http.mjs';
import { CONCURRENCY } from './rate.mjs';

// The built libs: a load generator runs without the compiler's path aliases.
const built = createRequire(new URL('../../dist/libs/', import.meta.url));
const { LedgerStore } = built('./billing/src/index.js');
const { DispatchStore } = built('./jobs/src/dispatch.store.js');
const { LifecycleStore } = built('./jobs/src/lifecycle.store.js');

/** @typedef {{ id: string, key: string }} RunningJob `key`: of the account whose job it is. */

const ACCOUNTS = 100;
/** Longer than any bench: no worker is there to renew it. */
const LEASE_SECONDS = 3_600;
const MOST_TRIES = 1_000;

/**
 * Jobs that run, of a hundred accounts in turn: submitted, dispatched and claimed as ever, by a worker that then does
 * nothing. Whatever is told of them, PostgreSQL agrees that they run.
 *
 * @param {import('./accounts.mjs').Stack} stack
 * @param {number} count
 * @returns {Promise<RunningJob[]>}
 */
export async function makeRunningJobs(stack, count) {
  const pool = new pg.Pool({ connectionString: stack.databaseUrl, max: CONCURRENCY });
  await plantPool(pool);
  const accounts = await makeAccounts(stack, ACCOUNTS);
  const send = openClient(stack.publicUrl, CONCURRENCY);
  const jobs = await inLanes(count, async (nth) => {
    const { key } = /** @type {import('./accounts.mjs').Account} */ (accounts[nth % ACCOUNTS]);
    return { id: await submit(send, key), key };
  });
  const statements = statementsOn(pool);
  const dispatched = await dispatchAll(statements, count);
  const lifecycle = new LifecycleStore(new LedgerStore());
  const workerId = randomUUID();
  const lease = { workerId, leaseToken: randomUUID(), leaseSeconds: LEASE_SECONDS };
  await inLanes(dispatched, async (nth) => {
    const claimed = await lifecycle.claim(statements, { jobId: jobs[nth]?.id, attempt: 1, ...lease });
    if (claimed === null) throw new Error('a job of the bench could not be claimed');
  });
  await pool.end();
  return jobs;
}

/** @param {pg.Pool} pool */
function statementsOn(pool) {
  return {
    query: async (/** @type {{ text: string, values: unknown[] }} */ { text, values }) => {
      return (await pool.query({ text, values })).rows;
    },
  };
}

/**
 * The dispatcher of the stack gives nothing to a pool without workers; while it looks, it keeps others out.
 *
 * @param {ReturnType<typeof statementsOn>} statements
 * @param {number} count
 */
async function dispatchAll(statements, count) {
  const store = new DispatchStore();
  let [dispatched, tries] = [0, 0];
  while (dispatched < count && tries < MOST_TRIES) {
    const next = await store.dispatchNext(statements, POOL, count + 1);
    if (next === null) tries += 1;
    else dispatched += 1;
  }
  if (dispatched < count) throw new Error(`only ${dispatched} of ${count} jobs could be dispatched`);
  return dispatched;
}

/**
 * @template T
 * @param {number} count
 * @param {(nth: number) => Promise<T>} act
 * @returns {Promise<T[]>} in the order of their numbers
 */
async function inLanes(count, act) {
  /** @type {T[]} */
  const results = new Array(count);
  let next = 0;
  const lane = async () => {
    for (let nth = next++; nth < count; nth = next++) results[nth] = await act(nth);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  return results;
}
