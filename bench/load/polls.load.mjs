import pg from 'pg';
import { Redis } from 'ioredis';
import { anyOf, makeAccounts } from '../lib/accounts.mjs';
import { built } from '../lib/built.mjs';
import { openClient, submit } from '../lib/http.mjs';
import { CONCURRENCY, rateOf } from '../lib/rate.mjs';
import { makeRunningJobs } from '../lib/running-jobs.mjs';

const { Database } = built('libs/database/src/index');
const { LivePublisher } = built('libs/messaging/src/index');
const { endJob } = built('libs/jobs/src/lifecycle/end.store');

/** @typedef {'queued' | 'running' | 'finished'} State */
/** @typedef {{ id: string, key: string, etag?: string }} PolledJob */

const RUNNING = 100;
const FINISHED = 100;
const QUEUES = 10;
/** As many as an account may have waiting by default. */
const QUEUED_OF_EACH = 100;
const PROGRESS = { value: 0.4, nodes_done: 8, nodes_total: 20, current_node: '9', step: 3, steps: 20 };

/** @type {Record<State, PolledJob[]>} */
const jobs = { queued: [], running: [], finished: [] };
/** @type {import('../lib/http.mjs').Send} */
let send;
/** @type {pg.Pool} */
let pool;

/**
 * Make jobs in each state, in a pool in which nothing starts: queues as long as an account may have, jobs that run and show
 * progress, and jobs that have succeeded with an output each.
 *
 * @param {import('../lib/accounts.mjs').Stack & { redisUrl: string }} stack
 */
export async function prepare(stack) {
  send = openClient(stack.publicUrl, CONCURRENCY);
  pool = new pg.Pool({ connectionString: stack.databaseUrl, max: CONCURRENCY });
  const started = await makeRunningJobs(stack, RUNNING + FINISHED);
  const finished = started.slice(0, FINISHED);
  jobs.finished = finished;
  jobs.running = started.slice(FINISHED);
  await pool.query(OUTPUTS, [finished.map(({ id }) => id)]);
  const database = new Database(
    { databaseUrl: stack.databaseUrl, databasePoolSize: 1, databaseTimeoutMs: 10_000 },
    'bench',
  );
  const ending = { ending: /** @type {const} */ ('succeeded'), failure: null, engineMs: 1, progress: PROGRESS };
  for (const { id, leaseToken } of finished) {
    const guard = /** @type {const} */ ({ kind: 'fence', fence: { jobId: id, attempt: 1, leaseToken } });
    if ((await endJob(database, guard, { ...ending, nodes: null, log: null })) === null)
      throw new Error('a job of the bench could not be ended');
  }
  await database.close();
  const redis = new Redis(stack.redisUrl);
  await new Promise((resolve) => redis.once('ready', resolve));
  const live = new LivePublisher(redis);
  for (const { id } of jobs.running) await live.publish(id, { kind: 'progress', attempt: 1, progress: PROGRESS });
  redis.disconnect();
  for (const { key } of await makeAccounts(stack, QUEUES)) {
    for (let nth = 0; nth < QUEUED_OF_EACH; nth += 1) jobs.queued.push({ id: await submit(send, key), key });
  }
}

/** @param {{ state: State, seconds: number, conditional?: boolean }} input `conditional`: with the `ETag` of the last answer. */
export function pollsPerSecond({ state, seconds, conditional = false }) {
  return rateOf(seconds, async () => {
    const job = anyOf(jobs[state]);
    const path = `/api/v2/jobs/${job.id}`;
    /** @type {Record<string, string>} */
    const condition = conditional && job.etag !== undefined ? { 'if-none-match': job.etag } : {};
    const { status, text, headers } = await send({ method: 'GET', path, key: job.key, headers: condition });
    if (status !== 200 && status !== 304) throw new Error(`a poll was refused: ${status} ${text}`);
    if (typeof headers.etag === 'string') job.etag = headers.etag;
  });
}

/** @param {{ state: State, seconds: number }} input */
export async function bareSelectsPerSecond({ state, seconds }) {
  return rateOf(seconds, () =>
    pool.query({ name: 'select', text: 'SELECT * FROM jobs WHERE id = $1', values: [anyOf(jobs[state]).id] }),
  );
}

/** An output of each. */
const OUTPUTS = `
  WITH draft AS (SELECT id, account_id, gen_random_uuid() AS asset_id, expires_at FROM jobs WHERE id = ANY ($1::uuid[])),
  blob AS (
    INSERT INTO blobs (account_id, hash, size_bytes, orphaned_at)
    SELECT DISTINCT account_id, 'blake3:' || repeat('0', 64), 1024, NULL::timestamptz FROM draft
  ), asset AS (
    INSERT INTO assets (id, account_id, hash, size_bytes, content_type, job_id, expires_at)
    SELECT asset_id, account_id, 'blake3:' || repeat('0', 64), 1024, 'image/png', id, expires_at FROM draft
  )
  INSERT INTO job_outputs (job_id, node_id, node_index, attempt, ordinal, name, type, asset_id)
  SELECT id, '20', 0, 1, 0, 'bench_00001_.png', 'image', asset_id FROM draft`;
