import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { makeAccounts } from './accounts.mjs';
import { built } from './built.mjs';
import { POOL, plantPool } from './graph.mjs';
import { openClient, submit } from './http.mjs';
import { CONCURRENCY } from './rate.mjs';

const { Database } = built('libs/database/src/index');
const { claimAttempt } = built('libs/jobs/src/lifecycle/claim.store');

/** @typedef {{ id: string, key: string, leaseToken: string }} RunningJob `key`: of the account whose job it is. */

const ACCOUNTS = 100;
/** Longer than any bench: no worker is there to renew it. */
const LEASE_SECONDS = 3_600;
const TIMEOUT_MS = 60_000;

/**
 * Jobs that run, of a hundred accounts in turn: submitted, dispatched and claimed as usual, by a worker that then does
 * nothing. Any event may be published for them, and PostgreSQL agrees that they run.
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
  const ids = jobs.map(({ id }) => id);
  await dispatch(pool, ids);
  const settings = { databaseUrl: stack.databaseUrl, databasePoolSize: CONCURRENCY, databaseTimeoutMs: TIMEOUT_MS };
  const database = new Database(settings, 'bench');
  const workerId = randomUUID();
  const lease = { workerId, leaseToken: randomUUID(), leaseSeconds: LEASE_SECONDS };
  await inLanes(count, async (nth) => {
    const claimed = await claimAttempt(database, { jobId: ids[nth] ?? '', attempt: 1, ...lease });
    if (claimed === null) throw new Error('a job of the bench could not be claimed');
  });
  await Promise.all([pool.end(), database.close()]);
  return jobs.map((job) => ({ ...job, leaseToken: lease.leaseToken }));
}

/**
 * Dispatch jobs, all at once: the dispatcher of the stack gives nothing to a pool without workers.
 *
 * @param {pg.Pool} pool
 * @param {string[]} ids
 */
async function dispatch(pool, ids) {
  await pool.query(
    `WITH job AS (
       UPDATE jobs SET delivery = 'dispatched', dispatched_at = now(), updated_at = now()
       WHERE id = ANY ($1::uuid[]) AND delivery = 'waiting' RETURNING account_id
     ), moved AS (SELECT account_id, count(*)::int AS jobs FROM job GROUP BY account_id)
     UPDATE account_queues q SET waiting = q.waiting - moved.jobs, in_flight = q.in_flight + moved.jobs
     FROM moved WHERE q.pool_id = $2 AND q.account_id = moved.account_id`,
    [ids, POOL],
  );
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
