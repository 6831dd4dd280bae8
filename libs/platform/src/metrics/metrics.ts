import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { poolSeries } from './pool-series';

const FAST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const SLOW_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

/** How jobs end: the labels of `millrace_jobs_finished_total`. */
const ENDS = [
  { status: 'succeeded', fault: 'none' },
  { status: 'canceled', fault: 'none' },
  { status: 'expired', fault: 'service' },
  { status: 'failed', fault: 'service' },
  { status: 'failed', fault: 'caller' },
] as const;

/**
 * Every metric the processes export, in one list: dashboards, alerts and the autoscaler use these names. No label ever
 * carries a tenant's id.
 */
export class Metrics {
  readonly registry = new Registry();

  readonly httpRequestSeconds = new Histogram({
    name: 'millrace_http_request_seconds',
    help: 'Time to answer a request, by route pattern.',
    labelNames: ['method', 'route', 'status'],
    buckets: FAST_SECONDS,
    registers: [this.registry],
  });
  readonly streamsOpen = new Gauge({
    name: 'millrace_streams_open',
    help: 'Event streams open on this process.',
    registers: [this.registry],
  });
  readonly submissions = new Counter({
    name: 'millrace_submissions_total',
    help: 'Submissions by outcome: accepted, or the error code that was answered.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly jobsFinished = new Counter({
    name: 'millrace_jobs_finished_total',
    help: 'Jobs that reached a terminal state, counted by maintenance a minute later, by whose fault it is that they did not succeed: service, caller; none of those that did, or were canceled.',
    labelNames: ['pool', 'status', 'fault'],
    registers: [this.registry],
  });
  readonly startDelaySeconds = new Histogram({
    name: 'millrace_job_start_delay_seconds',
    help: 'Time from acceptance to the first claim, counted by maintenance a minute after it.',
    labelNames: ['pool'],
    buckets: SLOW_SECONDS,
    registers: [this.registry],
  });
  readonly engineSeconds = new Counter({
    name: 'millrace_engine_seconds_total',
    help: 'Engine time used.',
    labelNames: ['pool'],
    registers: [this.registry],
  });
  readonly leaseLosses = new Counter({
    name: 'millrace_lease_losses_total',
    help: 'Attempts that ended because their lease ran out.',
    labelNames: ['pool'],
    registers: [this.registry],
  });
  readonly jobRetries = new Counter({
    name: 'millrace_job_retries_total',
    help: 'Failed attempts that are tried again because the retry policy of their job says so.',
    labelNames: ['pool'],
    registers: [this.registry],
  });
  readonly jobsReused = new Counter({
    name: 'millrace_jobs_reused_total',
    help: 'Jobs that were answered with the outputs of an earlier one; they did not run and are in no other count of jobs that ended.',
    labelNames: ['pool'],
    registers: [this.registry],
  });
  readonly queueDepth = new Gauge({
    name: 'millrace_queue_depth',
    help: 'Jobs by pool and delivery state: waiting, dispatched, leased.',
    labelNames: ['pool', 'delivery'],
    registers: [this.registry],
  });
  readonly queueOldestSeconds = new Gauge({
    name: 'millrace_queue_oldest_seconds',
    help: 'For how long a job has waited at most for a worker, waiting or dispatched; not for other jobs of an account at its running limit.',
    labelNames: ['pool'],
    registers: [this.registry],
  });
  readonly poolPendingJobs = new Gauge({
    name: 'millrace_pool_pending_jobs',
    help: 'Jobs that need workers of a pool: running, and queued ones that the running limits of their accounts let run now; 1 where a deployment without workers is wanted.',
    labelNames: ['pool'],
    registers: [this.registry],
  });
  readonly workerCapacity = new Gauge({
    name: 'millrace_worker_capacity',
    help: 'Attempts that this worker takes at once: one for each engine that is well. 0 while it starts, drains or is sick.',
    registers: [this.registry],
  });
  readonly workers = new Gauge({
    name: 'millrace_workers',
    help: 'Workers by pool and state: starting (also while all its engines are sick), ready, draining, lost.',
    labelNames: ['pool', 'state'],
    registers: [this.registry],
  });
  readonly remoteWorkers = new Gauge({
    name: 'millrace_gateway_workers',
    help: 'Workers outside the cluster that ask this gateway for work.',
    labelNames: ['pool'],
    registers: [this.registry],
  });
  readonly remoteBytes = new Counter({
    name: 'millrace_gateway_bytes_total',
    help: 'Bytes of inputs and outputs that passed through this gateway, by direction: in (outputs), out (inputs). What the store serves itself is not among them.',
    labelNames: ['direction'],
    registers: [this.registry],
  });
  readonly remoteRequests = new Counter({
    name: 'millrace_gateway_requests_total',
    help: 'Requests of workers outside the cluster by outcome: answered, refused (4xx), failed (5xx), left (the worker did not wait for the answer).',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly databaseConnections = new Gauge({
    name: 'millrace_database_connections',
    help: 'Connections of this process to PostgreSQL by state: busy, idle; waiting: statements for which there is none.',
    labelNames: ['state'],
    registers: [this.registry],
    collect: () => {
      for (const [state, count] of Object.entries(this.readConnections())) {
        this.databaseConnections.set({ state }, count);
      }
    },
  });
  readonly oldestTransactionSeconds = new Gauge({
    name: 'millrace_database_oldest_transaction_seconds',
    help: 'How long the oldest transaction of the database has been open, of those that the user may see.',
    registers: [this.registry],
  });
  readonly fleetWorkersWanted = new Gauge({
    name: 'millrace_fleet_workers_wanted',
    help: 'Workers that the deployment of a pool is to have now.',
    labelNames: ['pool'],
    registers: [this.registry],
  });
  readonly fleetWorkersReady = new Gauge({
    name: 'millrace_fleet_workers_ready',
    help: 'Of these, the workers that are ready.',
    labelNames: ['pool'],
    registers: [this.registry],
  });
  readonly fleetStartFailures = new Gauge({
    name: 'millrace_fleet_start_failures',
    help: 'Starts of workers of a pool that failed one after the other; 0 when it has what it wants.',
    labelNames: ['pool'],
    registers: [this.registry],
  });
  readonly workerStartSeconds = new Histogram({
    name: 'millrace_worker_start_seconds',
    help: 'Time that workers of deployments took to become ready, by engine class and phase: schedule (a machine), pull (images), boot, models, warm_up. A phase that there was not is not counted.',
    labelNames: ['class', 'phase'],
    buckets: SLOW_SECONDS,
    registers: [this.registry],
  });
  readonly fleetLeads = new Gauge({
    name: 'millrace_fleet_leads',
    help: '1 on the fleet process that leads, 0 on others.',
    registers: [this.registry],
  });
  readonly modelBytesFetched = new Counter({
    name: 'millrace_model_bytes_fetched_total',
    help: 'Bytes of models that this worker has fetched from the model library.',
    registers: [this.registry],
  });
  readonly modelLookups = new Counter({
    name: 'millrace_model_cache_lookups_total',
    help: 'Models of the library that runs needed, by outcome: hit (on the disk), miss.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly modelEvictions = new Counter({
    name: 'millrace_model_cache_evictions_total',
    help: 'Models that this worker has removed from the disk to make room for others.',
    registers: [this.registry],
  });
  readonly modelFailures = new Counter({
    name: 'millrace_model_cache_failures_total',
    help: 'Runs whose models could not be brought to the disk, by reason.',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  readonly modelStagingSeconds = new Histogram({
    name: 'millrace_model_staging_seconds',
    help: 'Time to bring the models of a run to the disk, of runs that name models of the library.',
    buckets: SLOW_SECONDS,
    registers: [this.registry],
  });
  readonly loopRuns = new Counter({
    name: 'millrace_loop_runs_total',
    help: 'Runs of a maintenance loop by outcome: done, idle, failed.',
    labelNames: ['loop', 'outcome'],
    registers: [this.registry],
  });
  readonly loopConsecutiveFailures = new Gauge({
    name: 'millrace_loop_consecutive_failures',
    help: 'Runs of a maintenance loop that failed one after the other on this process; 0 after one that did not. Absent while another process has the loop.',
    labelNames: ['loop'],
    registers: [this.registry],
  });
  readonly loopItemsFailed = new Counter({
    name: 'millrace_loop_items_failed_total',
    help: 'Items that a maintenance loop could not do, while it went on with the others.',
    labelNames: ['loop'],
    registers: [this.registry],
  });
  readonly auditLogWaitingSeconds = new Gauge({
    name: 'millrace_audit_log_waiting_seconds',
    help: 'How long the oldest entry of the audit log waits to be sealed (step seal), and the oldest sealed segment to be exported (step export).',
    labelNames: ['step'],
    registers: [this.registry],
  });
  readonly loopItemsResting = new Gauge({
    name: 'millrace_loop_items_resting',
    help: 'Items of a maintenance loop that wait for another try after they failed. One that stays needs an operator.',
    labelNames: ['loop'],
    registers: [this.registry],
  });
  readonly webhookAttempts = new Counter({
    name: 'millrace_webhook_attempts_total',
    help: 'Attempts to send a webhook by outcome: delivered, failed, dropped (there was nothing to send any more).',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly webhookOldestSeconds = new Gauge({
    name: 'millrace_webhook_oldest_seconds',
    help: 'How long the webhook is overdue that has been due longest. Those of endpoints that fail do not count.',
    registers: [this.registry],
  });
  readonly creditsSettled = new Counter({
    name: 'millrace_credits_settled_micros_total',
    help: 'Micro-credits charged.',
    registers: [this.registry],
  });
  readonly ledgerFindings = new Gauge({
    name: 'millrace_ledger_findings',
    help: 'Invariants of the credit ledger found broken in the latest round of the audit. Anything but 0 is an alarm.',
    registers: [this.registry],
  });
  readonly ledgerAudited = new Gauge({
    name: 'millrace_ledger_audited_transactions',
    help: 'Transactions of the credit ledger that the present round of the audit has read.',
    registers: [this.registry],
  });

  private readConnections: () => Record<'busy' | 'idle' | 'waiting', number> | Record<string, never> = () => ({});

  /** @param read called at each scrape. */
  watchConnections(read: () => Record<'busy' | 'idle' | 'waiting', number>): void {
    this.readConnections = read;
  }

  /** Pools whose counters are there. */
  private readonly shown = new Set<string>();

  /** Have what maintenance counts of a pool begin with 0, unless it has: `rate` sees only what is added between two readings, and no first value. */
  showPool(pool: string): void {
    if (this.shown.has(pool)) return;
    this.shown.add(pool);
    for (const end of ENDS) this.jobsFinished.inc({ pool, ...end }, 0);
    this.leaseLosses.inc({ pool }, 0);
    this.startDelaySeconds.zero({ pool });
  }

  /** The pools of which this process shows anything. */
  async pools(): Promise<string[]> {
    const pools = new Set<string>();
    for await (const series of poolSeries(this)) for (const pool of series.pools) pools.add(pool);
    return [...pools];
  }

  /** Show nothing of these pools any more, in any metric. One that is counted meanwhile may keep what it got. */
  async forgetPools(pools: ReadonlySet<string>): Promise<void> {
    for await (const series of poolSeries(this)) series.remove(pools);
    // Last: until then a pool that is shown again would lose some of its counters, and not get them back.
    for (const pool of pools) this.shown.delete(pool);
  }

  constructor(role: string) {
    this.registry.setDefaultLabels({ role });
    collectDefaultMetrics({ register: this.registry });
  }
}
