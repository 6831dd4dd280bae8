import process from 'node:process';
import pg from 'pg';
import { built } from '../lib/built.mjs';

const { newId } = built('libs/contracts/src/index');
const { Database, databaseSettings } = built('libs/database/src/index');
const { billingSettings } = built('libs/billing/src/index');
const { PoolStore, WorkerStore } = built('libs/deployments/src/index');
const { composeExecution, jobSettings } = built('libs/jobs/src/index');
const { LaneConsumer, RedisConnections, messagingSettings } = built('libs/messaging/src/index');
const { KeyRing, Metrics, createLogger, readSettings } = built('libs/platform/src/index');

/**
 * @typedef {{ databaseUrl: string, redisUrl: string }} Stack
 * @typedef {ReturnType<typeof composeExecution>} Jobs
 * @typedef {Parameters<Jobs['claims']['take']>[0]} Message
 * @typedef {{
 *   seconds: number,
 *   firstPlace: number | null,
 *   jainIndex: number | null,
 * }} Contest
 * `seconds` that the first jobs took; `firstPlace` of the light account that started last, from 1. Both null where there
 * is one account.
 */

const WORKERS = 4;
const REPORT_EVERY_MS = 3_000;
const POLL_MS = 5;
const LIMIT_MS = 120_000;

/** @type {InstanceType<typeof Database>} */
let database;
/** @type {ReturnType<typeof settingsOf>} */
let settings;
/** @type {pg.Pool} */
let pool;
// A dispatcher may still be at work when a contest is over and its connections are closed; what it says of that is no news.
const logger = createLogger('bench', 'error');
const pools = new PoolStore();
const workers = new WorkerStore();

/** @param {Stack} stack */
export function prepare(stack) {
  settings = settingsOf(stack);
  database = new Database(settings, 'millrace-bench');
  pool = new pg.Pool({ connectionString: stack.databaseUrl, max: 1 });
}

/** @param {Stack} stack */
function settingsOf({ databaseUrl, redisUrl }) {
  const known = { ...databaseSettings, ...messagingSettings, ...jobSettings, ...billingSettings };
  return readSettings(known, { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl });
}

/**
 * One account queues `heavy` jobs; when its jobs fill the lane, and the workers, others queue theirs. From then on the time
 * for `drained` jobs is taken, and whose start.
 *
 * @param {{ heavy: number, light: number[], drained: number }} input
 * @returns {Promise<Contest>}
 */
export async function contest({ heavy, light, drained }) {
  const poolId = `bench-${newId()}`;
  await pools.ensure(database, poolId, 'cpu');
  const heavyAccount = await queue(poolId, heavy);
  const run = new Run(poolId, drained);
  await run.open();
  try {
    await run.untilFull();
    const lightAccounts = [];
    for (const count of light) lightAccounts.push(await queue(poolId, count));
    const seconds = await run.drain();
    return { seconds, ...standing(run.starts, heavyAccount, lightAccounts, light) };
  } finally {
    await run.close();
  }
}

/**
 * Queue the jobs of a new account: what as many submissions leave behind, in one statement.
 *
 * @param {string} poolId
 * @param {number} count
 * @returns {Promise<string>} the account
 */
async function queue(poolId, count) {
  const account = newId();
  await database.models.account.create({ data: { id: account, name: 'bench' } });
  await pool.query(
    `WITH queue AS (
       INSERT INTO account_queues (pool_id, account_id, waiting, running_limit, pass)
       SELECT id, $2, $3, $4, virtual_time FROM pools WHERE id = $1
     ), job AS (
       INSERT INTO jobs (id, account_id, pool_id, surface, max_attempts, deadline_at, expires_at)
       SELECT id, $2, $1, 'cloud', 3, now() + interval '1 day', now() + interval '1 day' FROM unnest($5::uuid[]) AS new (id)
       RETURNING id
     ), graph AS (
       INSERT INTO job_graphs (job_id, workflow, node_count) SELECT id, '{}', 1 FROM job
     )
     INSERT INTO job_transitions (job_id, seq, to_status, attempt, cause) SELECT id, 1, 'queued', 0, 'submitted' FROM job`,
    [poolId, account, count, settings.runningLimitPerAccount, Array.from({ length: count }, () => newId())],
  );
  return account;
}

/**
 * @param {string[]} starts accounts in the order of the starts
 * @param {string} heavyAccount
 * @param {string[]} lightAccounts
 * @param {number[]} light jobs of each
 */
function standing(starts, heavyAccount, lightAccounts, light) {
  if (lightAccounts.length === 0) return { firstPlace: null, jainIndex: null };
  const shares = new Map([heavyAccount, ...lightAccounts].map((account) => [account, 0]));
  for (const account of starts) {
    const share = (shares.get(account) ?? 0) + 1;
    shares.set(account, share);
    // The last of its jobs: from here on it competes no more.
    if (share === light[lightAccounts.indexOf(account)]) break;
  }
  const places = lightAccounts.map((account) => starts.indexOf(account) + 1);
  if (places.includes(0)) throw new Error('an account has had no start');
  return { firstPlace: Math.max(...places), jainIndex: jain([...shares.values()]) };
}

/**
 * Jain, Chiu and Hawe (1984): 1 when all have the same, 1/n when one has it all.
 *
 * @param {number[]} shares
 */
function jain(shares) {
  const sum = shares.reduce((total, share) => total + share, 0);
  return sum ** 2 / (shares.length * shares.reduce((total, share) => total + share ** 2, 0));
}

/** The workers of one pool, which hold what they have claimed until they are let go. */
class Run {
  /** @type {string[]} accounts in the order of the starts since `drain` */
  starts = [];
  #claimed = 0;
  #ended = 0;
  #redis = new RedisConnections(settings.redisUrl, logger);
  /** @type {string[]} what broke, if anything did */
  #failures = [];
  /** @type {(value?: unknown) => void} */
  #letGo = () => {};
  #held = new Promise((resolve) => (this.#letGo = resolve));
  /** @type {{ id: string, jobs: Jobs, lane: InstanceType<typeof LaneConsumer> }[]} */
  #members = [];
  /** @type {NodeJS.Timeout | undefined} */
  #reports;

  /**
   * @param {string} poolId
   * @param {number} drained
   */
  constructor(poolId, drained) {
    this.poolId = poolId;
    this.drained = drained;
  }

  async open() {
    for (let count = 0; count < WORKERS; count += 1) this.#members.push(await this.#join());
    this.#reports = setInterval(() => void this.#report('ready'), REPORT_EVERY_MS);
    for (const { lane } of this.#members) lane.setCapacity(1);
    this.#members[0]?.jobs.dispatcher.requestDispatch(this.poolId);
  }

  async #join() {
    const id = newId();
    const { poolId } = this;
    const about = { engine: 'cpu', version: 'bench', host: 'bench', pid: process.pid, capacity: 1 };
    await workers.register(database, { id, poolId, ...about });
    await workers.heartbeat(database, id, report('ready'));
    const metrics = new Metrics('bench');
    const secretKey = KeyRing.of(Buffer.alloc(32));
    const jobs = composeExecution({ database, redis: this.#redis, logger, metrics, settings, secretKey });
    const take = async (/** @type {Message} */ message) => {
      await this.#take(jobs, id, message).catch((error) => this.#failures.push(String(error)));
      return null;
    };
    const lane = new LaneConsumer(this.#redis.consumer(), poolId, take, async () => {}, ignore);
    return { id, jobs, lane };
  }

  /**
   * @param {Jobs} jobs
   * @param {string} id of the worker
   * @param {Message} message
   */
  async #take(jobs, id, message) {
    const { claimed } = await jobs.claims.take(message, { id, poolId: this.poolId, warm: [] });
    if (claimed === null) return;
    this.#claimed += 1;
    this.starts.push(claimed.accountId);
    await this.#held;
    const nothing = { failure: null, engineMs: 0, progress: null, nodes: [], log: null };
    await jobs.lifecycle.finish(claimed, { ending: 'succeeded', ...nothing });
    this.#ended += 1;
  }

  /** Every worker holds a job, and the lane holds all that it is given beyond that. */
  async untilFull() {
    const lookAhead = (await pools.find(database, this.poolId))?.lookAhead ?? NaN;
    await this.#until(async () => {
      const { inFlight } = await workers.pace(database, this.poolId);
      return this.#claimed === WORKERS && inFlight === WORKERS + lookAhead;
    });
  }

  /** Let the workers go on, and take the time of the first jobs. @returns {Promise<number>} seconds */
  async drain() {
    this.starts = [];
    const startedAt = performance.now();
    this.#letGo();
    await this.#until(async () => this.#ended >= this.drained);
    return (performance.now() - startedAt) / 1_000;
  }

  /** @param {() => Promise<boolean>} isTrue */
  async #until(isTrue) {
    const until = performance.now() + LIMIT_MS;
    while (!(await isTrue())) {
      const [failure] = this.#failures;
      if (failure !== undefined) throw new Error(failure);
      if (performance.now() > until) throw new Error(`${this.#ended} jobs have ended, and no more did in time`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** @param {'ready' | 'stopped'} state */
  async #report(state) {
    await Promise.all(this.#members.map(({ id }) => workers.heartbeat(database, id, report(state))));
  }

  /** What is queued stays where it is, in a pool that nobody serves any more. */
  async close() {
    clearInterval(this.#reports);
    await this.#report('stopped');
    this.#letGo();
    await Promise.all(this.#members.map(({ lane }) => lane.drain()));
    await Promise.all(this.#members.flatMap(({ lane, jobs }) => [lane.close(), jobs.close()]));
    await this.#redis.close();
  }
}

/** @param {'ready' | 'stopped'} state */
const report = (state) => ({ state, residentModels: [], problem: null });

const ignore = () => {};
