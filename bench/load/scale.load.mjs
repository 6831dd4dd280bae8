import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { setTimeout as after } from 'node:timers/promises';
import pg from 'pg';
import { built } from '../lib/built.mjs';
import { processorMs } from '../lib/process-facts.mjs';
import { rateOf } from '../lib/rate.mjs';

const { Database } = built('libs/database/src/index');
const { PoolStore, WorkerStore } = built('libs/deployments/src/index');
const { Dispatcher } = built('libs/jobs/src/dispatch/dispatcher');
const { TurnStore } = built('libs/jobs/src/rotation/index');
const { LaneProducer, RedisConnections } = built('libs/messaging/src/index');
const { createLogger } = built('libs/platform/src/index');

/**
 * @typedef {{ databaseUrl: string, redisUrl: string }} Servers
 * @typedef {{ pool: string, accounts: number, jobsOfEach: number, workers: number, capacity: number }} Plan
 * @typedef {{ perSecond: number, processorMs: number }} Heartbeats `processorMs`: of PostgreSQL for each
 */

const CONNECTIONS = 10;
const TIMEOUT_MS = 60_000;
/** Attempts that are in flight at once: of so many the lane is kept full, however many workers there are. */
const MOST_IN_FLIGHT = 128;
const RELEASE_EVERY_MS = 5;
/** Between two looks for work that has room, when there was none. */
const IDLE_MS = 2;

/** @type {Servers} */
let servers;
/** @type {InstanceType<typeof Database>} */
let database;
/** @type {pg.Client} */
let client;
/** @type {InstanceType<typeof Dispatcher>} */
let dispatcher;
/** Attempts that went to the lane. */
let dispatched = 0;

/** @param {Servers} where */
export async function prepare(where) {
  servers = where;
  const settings = { databaseUrl: where.databaseUrl, databasePoolSize: CONNECTIONS, databaseTimeoutMs: TIMEOUT_MS };
  database = new Database(settings, 'millrace-bench');
  const logger = createLogger('bench', 'error');
  const redis = new RedisConnections(servers.redisUrl, logger);
  const [lanes, workers] = [new LaneProducer(redis.producer()), new WorkerStore()];
  /** @type {ConstructorParameters<typeof Dispatcher>[4]} */
  const boundedWorkers = {
    room: async (...asked) => Math.min(MOST_IN_FLIGHT, await workers.room(...asked)),
  };
  /** @type {ConstructorParameters<typeof Dispatcher>[5]} */
  const countedLanes = {
    add: (...sent) => lanes.add(...sent),
    addAgain: (...sent) => lanes.addAgain(...sent),
    addLeft: (...sent) => lanes.addLeft(...sent),
    states: (...asked) => lanes.states(...asked),
    addAll: async (pool, jobs) => {
      await lanes.addAll(pool, jobs);
      dispatched += jobs.length;
    },
  };
  const [turns, pools, nothingUnclaimed] = [new TurnStore(), new PoolStore(), { list: async () => [] }];
  dispatcher = new Dispatcher(database, turns, nothingUnclaimed, pools, boundedWorkers, countedLanes, logger, {
    modelWaitSeconds: 0,
  });
  client = new pg.Client({ connectionString: where.databaseUrl });
  await client.connect();
  await database.ping();
}

/**
 * A pool whose accounts all have jobs waiting, and whose workers are ready for longer than any bench. Every rule of the schema holds of
 * it; foreign keys are only not looked up one by one meanwhile.
 *
 * @param {Plan} plan `capacity`: of each worker
 */
export async function plant({ pool, accounts, jobsOfEach, workers, capacity }) {
  const { rows } = await client.query('SELECT (ARRAY(SELECT uuidv7() FROM generate_series(1, $1::int))) AS ids', [
    accounts,
  ]);
  const ids = /** @type {{ ids: string[] }[]} */ (rows)[0]?.ids;
  await client.query('SET session_replication_role = replica');
  await client.query('SET synchronous_commit = off');
  await client.query("INSERT INTO pools (id, engine) VALUES ($1, 'cpu')", [pool]);
  await client.query(
    `INSERT INTO workers (id, pool_id, engine, version, host, pid, capacity, state, last_seen_at)
     SELECT uuidv7(), $1, 'cpu', 'bench', 'bench', 1, $3, 'ready', now() + interval '1 day'
     FROM generate_series(1, $2::int)`,
    [pool, workers, capacity],
  );
  await client.query("INSERT INTO accounts (id, name) SELECT id, 'bench' FROM unnest($1::uuid[]) AS new (id)", [ids]);
  await client.query(
    `INSERT INTO account_queues (pool_id, account_id, waiting, running_limit)
     SELECT $1, id, $3, 1000000 FROM unnest($2::uuid[]) AS new (id)`,
    [pool, ids, jobsOfEach],
  );
  await client.query(
    `INSERT INTO account_turns (pool_id, eligible, pass, account_id)
     SELECT pool_id, eligible, pass, account_id FROM account_queues WHERE pool_id = $1`,
    [pool],
  );
  await client.query(
    `INSERT INTO jobs (id, account_id, pool_id, surface, max_attempts, deadline_at, expires_at)
     SELECT uuidv7(), id, $1, 'cloud', 3, now() + interval '1 day', now() + interval '1 day'
     FROM unnest($2::uuid[]) AS new (id), generate_series(1, $3::int)`,
    [pool, ids, jobsOfEach],
  );
  await client.query('RESET session_replication_role');
  await client.query('RESET synchronous_commit');
  await client.query('VACUUM ANALYZE jobs, account_queues, workers, accounts');
  await client.query('CHECKPOINT');
}

/**
 * @param {{ pool: string }} input
 * @returns {Promise<number>} its jobs that no turn has reached
 */
export async function countWaiting({ pool }) {
  const { rows } = await client.query('SELECT sum(waiting)::int AS jobs FROM account_queues WHERE pool_id = $1', [
    pool,
  ]);
  return /** @type {{ jobs: number }[]} */ (rows)[0]?.jobs ?? 0;
}

/**
 * Dispatch for a pool as one process does, as fast as it goes.
 *
 * @param {{ pool: string, seconds: number }} input
 * @returns {Promise<number>} attempts that went to the lane, each second
 */
export async function dispatch({ pool, seconds }) {
  const [startedAt, before] = [performance.now(), dispatched];
  let over = false;
  const work = async () => {
    while (!over) if ((await dispatcher.fill(pool)) === 0) await after(IDLE_MS);
  };
  const working = work();
  await after(seconds * 1_000);
  over = true;
  const perSecond = (dispatched - before) / ((performance.now() - startedAt) / 1_000);
  await working;
  return perSecond;
}

/**
 * Be the workers of a pool: what is in its lane is over a moment later, so that there is room for the next.
 *
 * @param {{ pool: string, seconds: number }} input
 */
export async function release({ pool, seconds }) {
  for (const until = performance.now() + seconds * 1_000; performance.now() < until;) {
    await client.query({ name: 'release', text: RELEASE, values: [pool] });
    await after(RELEASE_EVERY_MS);
  }
  await client.query({ name: 'release', text: RELEASE, values: [pool] });
}

const RELEASE = `
  WITH job AS (
    UPDATE jobs SET status = 'canceled', delivery = 'done', seq = seq + 1, charged_micros = 0, completed_at = now()
    WHERE pool_id = $1 AND delivery = 'dispatched' RETURNING account_id
  ), ended AS (SELECT account_id, count(*)::int AS jobs FROM job GROUP BY account_id), queue AS (
    SELECT q.account_id, ended.jobs FROM account_queues q JOIN ended USING (account_id)
    WHERE q.pool_id = $1 ORDER BY q.account_id FOR UPDATE OF q
  )
  UPDATE account_queues q SET in_flight = q.in_flight - queue.jobs
  FROM queue WHERE q.pool_id = $1 AND q.account_id = queue.account_id`;

/**
 * Heartbeats of a fleet, each of the worker whose turn it is, over ten connections, as fast as they are recorded.
 *
 * @param {{ workers: number, seconds: number, postgres: number }} input `postgres`: its process
 * @returns {Promise<Heartbeats>}
 */
export async function heartbeats({ workers, seconds, postgres }) {
  const pool = `bench-${randomUUID()}`;
  await new PoolStore().ensure(database, pool, 'cpu');
  const { rows } = await client.query(
    `INSERT INTO workers (id, pool_id, engine, version, host, pid, capacity)
     SELECT uuidv7(), $1, 'cpu', 'bench', 'bench', $3, 1 FROM generate_series(1, $2::int) RETURNING id`,
    [pool, workers, process.pid],
  );
  const ids = /** @type {{ id: string }[]} */ (rows).map(({ id }) => id);
  const store = new WorkerStore();
  /** @type {Parameters<typeof store.heartbeat>[2]} */
  const report = { state: 'ready', residentModels: [], problem: null };
  let nth = 0;
  const before = processorMs([postgres]);
  const perSecond = await rateOf(seconds, () => store.heartbeat(database, ids[nth++ % workers] ?? '', report));
  const heartbeatMs = (processorMs([postgres]) - before) / (perSecond * seconds);
  await client.query('DELETE FROM workers WHERE pool_id = $1', [pool]);
  return { perSecond, processorMs: heartbeatMs };
}
