import { makeWorkerUtils } from 'graphile-worker';
import pg from 'pg';
import PgBoss from 'pg-boss';
import { createDatabase } from '../../scripts/lib/prisma/index.mjs';
import { parseJson } from '../../scripts/lib/system/index.mjs';
import { anyOf, makeAccounts } from '../lib/accounts.mjs';
import { timesOfArrivalsMs } from '../lib/arrivals.mjs';
import { BODY, plantPool } from '../lib/graph.mjs';
import { openClient, submit } from '../lib/http.mjs';
import { quantile } from '../lib/pairs.mjs';
import { CONCURRENCY, rateOf } from '../lib/rate.mjs';
import { bareStatements, recordJob } from '../lib/recording.mjs';

/** @typedef {import('../lib/accounts.mjs').Stack} Stack */

const ACCOUNTS = 100;
const QUEUE = 'bench';
/** What the peers are given: the object of our request's body, which they serialize as part of their call. */
const PAYLOAD = /** @type {object} */ (parseJson(BODY));

/** @type {Record<'post' | 'bare' | 'pgBoss' | 'graphileWorker', () => Promise<unknown>>} */
let acts;

/**
 * Make the accounts and a pool in which nothing starts, and the peers' own databases on the same server.
 *
 * @param {Stack} stack
 */
export async function prepare(stack) {
  const pool = new pg.Pool({ connectionString: stack.databaseUrl, max: CONCURRENCY });
  await assertDurable(pool);
  await plantPool(pool);
  const accounts = await makeAccounts(stack, ACCOUNTS);
  const send = openClient(stack.publicUrl, CONCURRENCY);
  const statements = bareStatements(pool, 'submission');
  const boss = await openPgBoss(await databaseBeside(stack.databaseUrl, 'bench_pg_boss'));
  const worker = await openGraphileWorker(await databaseBeside(stack.databaseUrl, 'bench_graphile_worker'));
  acts = {
    post: () => submit(send, anyOf(accounts).key),
    bare: () => recordJob(statements, anyOf(accounts).id),
    pgBoss: () => boss.send(QUEUE, PAYLOAD),
    graphileWorker: () => worker.addJob(QUEUE, PAYLOAD),
  };
}

/** @param {{ act: keyof typeof acts, seconds: number }} input */
export function perSecond({ act, seconds }) {
  return rateOf(seconds, acts[act]);
}

/** The 99th percentile. @param {{ act: keyof typeof acts, perSecond: number, seconds: number }} input */
export async function p99Ms({ act, ...arrivals }) {
  return quantile(await timesOfArrivalsMs(arrivals, acts[act]), 0.99);
}

/** Ratios of commits that do not reach the disk say nothing. @param {pg.Pool} pool */
async function assertDurable(pool) {
  /** @type {import('pg').QueryResult<{ name: string, setting: string }>} */
  const { rows } = await pool.query(
    `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit') AND setting <> 'on'`,
  );
  for (const { name, setting } of rows) throw new Error(`PostgreSQL runs with ${name} = ${setting}`);
}

/** @param {string} url @param {string} name @returns {Promise<string>} its URL */
async function databaseBeside(url, name) {
  const beside = new URL(url);
  beside.pathname = `/${name}`;
  await createDatabase(beside.href);
  return beside.href;
}

/** Its upkeep is off: only what is measured is running. @param {string} connectionString */
async function openPgBoss(connectionString) {
  const boss = new PgBoss({ connectionString, max: CONCURRENCY, supervise: false, schedule: false });
  boss.on('error', (error) => {
    throw error;
  });
  await boss.start();
  await boss.createQueue(QUEUE);
  return boss;
}

/** @param {string} connectionString */
async function openGraphileWorker(connectionString) {
  const pgPool = new pg.Pool({ connectionString, max: CONCURRENCY });
  // It warns of a pool without one, and on each connection that has none.
  pgPool.on('error', (error) => {
    throw error;
  });
  pgPool.on('connect', (client) => client.on('error', () => undefined));
  const worker = await makeWorkerUtils({ pgPool });
  await worker.migrate();
  return worker;
}
