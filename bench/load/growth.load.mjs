import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { anyOf } from '../lib/accounts.mjs';
import { built } from '../lib/built.mjs';
import { POOL } from '../lib/graph.mjs';
import { plant as plantAt } from '../lib/planting.mjs';
import { CONCURRENCY, rateOf, rateOfCount } from '../lib/rate.mjs';
import { recordJob } from '../lib/recording.mjs';

const { AuditSpanStore, LedgerAudit, LedgerAuditStore } = built('libs/billing/src/audit/index');
const { Database } = built('libs/database/src/index');
const { WorkerStore } = built('libs/deployments/src/index');
const { Dispatcher } = built('libs/jobs/src/dispatch/dispatcher');
const { JobAudit, JobReads } = built('libs/jobs/src/index');
const { AccountQueueStore, QueueEstimates, TurnStore } = built('libs/jobs/src/rotation/index');
const { JobStore } = built('libs/jobs/src/follow/job.store');
const { claimAttempt } = built('libs/jobs/src/lifecycle/claim.store');
const { endJob } = built('libs/jobs/src/lifecycle/end.store');
const { renewLease } = built('libs/jobs/src/lifecycle/renew.store');

/**
 * @typedef {import('../../libs/jobs/src/state/job').ClaimedAttempt} ClaimedAttempt
 * @typedef {import('../../libs/jobs/src/rotation/turn.store').DispatchedJob} DispatchedJob
 */

const TIMEOUT_MS = 120_000;
const LEASE_SECONDS = 600;
const PAGE = 20;
/** A page that a database of 1,000 jobs and 100 accounts can fill. */
const FINISHED_PAGE = 10;
const TICKS_PER_SECOND = 5;

/** Lists count the places of a page together. */
const NO_RANKS = /** @type {ConstructorParameters<typeof JobReads>[3]} */ ({ ahead: () => Promise.resolve(0) });
/** No worker publishes anything. */
const NOTHING_SHOWN = /** @type {ConstructorParameters<typeof JobReads>[4]} */ ({
  progress: async (ids) => ids.map(() => null),
});
/** @type {Map<string, Promise<Service>>} */
const services = new Map();

/** What a load does with one database: the service's own statements, on as many connections as there are lanes. */
class Service {
  /** @param {string} url */
  static async open(url) {
    const settings = { databaseUrl: url, databasePoolSize: CONCURRENCY, databaseTimeoutMs: TIMEOUT_MS };
    const database = new Database(settings, 'millrace-bench');
    const rows = await database.models.account.findMany({ select: { id: true } });
    return new Service(
      database,
      rows.map(({ id }) => id),
    );
  }

  /**
   * @param {import('../../libs/database/src/database').Database} database
   * @param {string[]} accounts
   */
  constructor(database, accounts) {
    this.database = database;
    this.accounts = accounts;
    this.reads = new JobReads(
      database,
      new JobStore(),
      new QueueEstimates(database, new AccountQueueStore(), new WorkerStore()),
      NO_RANKS,
      NOTHING_SHOWN,
    );
    /** How many attempts may be in flight, and what becomes of each. @type {{ room: number, take: (job: DispatchedJob) => void }} */
    this.lane = { room: 0, take: () => undefined };
    this.submitted = 0;
    this.dispatcher = this.dispatcherOn();
  }

  /**
   * A dispatcher over a pool, a fleet and a lane that exist here only: `lane` says how much room there is, and gets the jobs.
   */
  dispatcherOn() {
    const parts = [
      this.database,
      new TurnStore(),
      { list: async () => [] },
      { find: async () => ({ lookAhead: 0 }) },
      { room: async () => this.lane.room },
      {
        addAll: async (/** @type {string} */ _pool, /** @type {DispatchedJob[]} */ jobs) =>
          jobs.forEach(this.lane.take),
      },
      console,
      { modelWaitSeconds: 0 },
    ];
    return new Dispatcher(.../** @type {ConstructorParameters<typeof Dispatcher>} */ (/** @type {unknown} */ (parts)));
  }

  /** Of one account after the other: a page of each must be full. */
  submit() {
    const account = /** @type {string} */ (this.accounts[this.submitted % this.accounts.length]);
    this.submitted += 1;
    return recordJob(this.database, account);
  }

  /**
   * Let the dispatcher choose so many jobs, and claim each as soon as it is chosen.
   *
   * @param {number} count
   */
  async claim(count) {
    /** @type {Promise<ClaimedAttempt>[]} */
    const claiming = [];
    this.lane = { room: count, take: (job) => claiming.push(this.claimOne(job)) };
    // Its cache of the room is half a second old at most.
    for (const until = performance.now() + 1_000; claiming.length < count && performance.now() < until;) {
      await this.dispatcher.fill(POOL);
    }
    if (claiming.length !== count) throw new Error(`${claiming.length} jobs were dispatched, not ${count}`);
    return Promise.all(claiming);
  }

  /** @param {DispatchedJob} job @returns {Promise<ClaimedAttempt>} */
  async claimOne({ jobId, attempt }) {
    const worker = { workerId: randomUUID(), leaseToken: randomUUID(), leaseSeconds: LEASE_SECONDS };
    const claimed = await claimAttempt(this.database, { jobId, attempt, ...worker });
    if (claimed === null) throw new Error('a dispatched job could not be claimed');
    return claimed;
  }

  /** One heartbeat and the end of each, as a worker reports them. @param {ClaimedAttempt[]} attempts */
  async finish(attempts) {
    const left = [...attempts];
    await rateOfCount(attempts.length, async () => {
      const attempt = left.pop();
      if (attempt === undefined) throw new Error('nothing is left to finish');
      const beat = {
        progress: null,
        engineMs: 1,
        leaseSeconds: LEASE_SECONDS,
        attemptLimitSeconds: 21_600,
        holdExtensionSeconds: 60,
      };
      await renewLease(this.database, attempt, beat);
      const ended = await endJob(
        this.database,
        { kind: 'fence', fence: attempt },
        { ending: 'succeeded', failure: null, engineMs: 1, progress: null, nodes: null, log: null },
      );
      if (ended === null) throw new Error('a claimed job could not be finished');
    });
  }
}

/** @param {string} url */
function serviceOf(url) {
  const service = services.get(url) ?? Service.open(url);
  services.set(url, service);
  return service;
}

/** @param {{ url: string, accounts: number, finished: number, queued: number }} input */
export async function plant({ url, ...size }) {
  await plantAt(url, size);
}

/** Prove that every invariant of the service holds of what was planted. @param {{ url: string }} input */
export async function audit({ url }) {
  const database = new Database({ databaseUrl: url, databasePoolSize: 2, databaseTimeoutMs: TIMEOUT_MS }, 'bench');
  const findings = [];
  const ledger = new LedgerAudit(database, new AuditSpanStore(20_000), new LedgerAuditStore());
  for await (const finding of new JobAudit(database).findings()) findings.push(finding);
  for await (const finding of ledger.findings()) findings.push(finding);
  await database.close();
  for (const { check, subject, detail } of findings) throw new Error(`${check}: ${subject} ${detail}`);
}

/** @param {{ url: string, count: number }} input */
export async function submissionsPerSecond({ url, count }) {
  const service = await serviceOf(url);
  return rateOfCount(count, () => service.submit());
}

/** From the choice of the first to the claim of the last; what was claimed is finished afterwards. @param {{ url: string, count: number }} input */
export async function claimsPerSecond({ url, count }) {
  const service = await serviceOf(url);
  const startedAt = performance.now();
  const claimed = await service.claim(count);
  const rate = count / ((performance.now() - startedAt) / 1_000);
  await service.finish(claimed);
  return rate;
}

/** The newest of an account with their places in the queue, and its newest that have succeeded, in turns. @param {{ url: string, seconds: number }} input */
export async function listsPerSecond({ url, seconds }) {
  const { accounts, reads } = await serviceOf(url);
  let turns = 0;
  return rateOf(seconds, async () => {
    /** @type {import('../../libs/jobs/src/state/job').JobScope} */
    const scope = { accountId: anyOf(accounts), surface: 'cloud', deploymentId: null, labels: null };
    const finished = ++turns % 2 === 0;
    const limit = finished ? FINISHED_PAGE : PAGE;
    const { jobs } = await reads.list(scope, {
      status: finished ? 'succeeded' : null,
      metadata: {},
      limit,
      cursor: null,
      createdAfter: null,
      createdBefore: null,
    });
    if (jobs.length !== limit) throw new Error(`a page has ${jobs.length} jobs, not ${limit}`);
    await reads.queuePlaces(scope, jobs);
  });
}

/**
 * Let both databases live through the same lives, of so many jobs a second, while a transaction stays open on the first.
 *
 * @param {{ held: string, free: string, perSecond: number, seconds: number }} input
 * @returns {Promise<number>} how many lives each has seen
 */
export async function ageUnderTransaction({ held, free, perSecond, seconds }) {
  await holdTransaction(held);
  const both = await Promise.all([held, free].map(serviceOf));
  const count = perSecond / TICKS_PER_SECOND;
  const startedAt = performance.now();
  const until = startedAt + seconds * 1_000;
  let lives = 0;
  for (let tick = 1; performance.now() < until; tick += 1) {
    await Promise.all(both.map((service) => liveThrough(service, count)));
    lives += count;
    const next = Math.min(until, startedAt + (tick * 1_000) / TICKS_PER_SECOND);
    await setTimeout(Math.max(0, next - performance.now()));
  }
  return lives;
}

/** @param {Service} service @param {number} count */
async function liveThrough(service, count) {
  await rateOfCount(count, () => service.submit());
  await service.finish(await service.claim(count));
}

/** Open a transaction whose snapshot stays, as a dump or a forgotten console does, until this process ends. @param {string} url */
async function holdTransaction(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await client.query('SELECT count(*) FROM jobs');
}
