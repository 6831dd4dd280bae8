import { BURN_CASES, type AlertCase } from './burn-cases';

export type { Series } from './burn-cases';

const POOL = 'namespace="prod",pool="default"';

/** Failures of a loop as a process counts them that has it for three minutes of eleven. */
const TURNS = Array.from({ length: 11 }, (_, nth) => `${2 + nth}x3 stale _x6`).join(' ');

/** Of each alert: what the metrics do when it must fire, and what they do when it must not (one case or several), minute by minute. */
export const CASES: Record<string, AlertCase> = {
  ...BURN_CASES,
  MillraceAllProcessesAway: {
    firing: [
      {
        'process_start_time_seconds{namespace="prod",role="api",instance="a"}': '1x60 stale',
        'process_start_time_seconds{namespace="prod",role="maintenance",instance="b"}': '1x120',
      },
      {
        'process_start_time_seconds{namespace="prod",role="gateway",instance="a"}': '1x60 stale',
        'process_start_time_seconds{namespace="prod",role="api",instance="b"}': '1x120',
      },
    ],
    quiet: {
      'process_start_time_seconds{namespace="prod",role="api",instance="a"}': '1x60 stale',
      'process_start_time_seconds{namespace="prod",role="api",instance="c"}': '1x120',
      'process_start_time_seconds{namespace="prod",role="worker",instance="d"}': '1x60 stale',
    },
  },
  MillraceNothingScraped: {
    firing: { 'process_start_time_seconds{role="worker"}': '1x120' },
    quiet: {
      'process_start_time_seconds{role="api"}': '1x120',
      'process_start_time_seconds{role="maintenance"}': '1x120',
    },
  },
  MillraceTargetDown: {
    firing: [
      { 'up{job="millrace",instance="a"}': '1x60 0x60' },
      // It never answered, or not for long: a process that ends while it starts, say.
      { 'up{job="millrace",instance="a"}': '0x120' },
    ],
    quiet: [
      { 'up{job="millrace",instance="a"}': '1x120', 'up{job="another",instance="b"}': '0x120' },
      // A worker that still starts has not answered yet.
      { 'up{job="millrace",instance="a"}': '_x100 0x20' },
    ],
  },
  MillracePostgresAway: {
    firing: {
      'millrace_loop_runs_total{namespace="prod",loop="measure-queues",outcome="failed"}': '0+4x120',
      'millrace_loop_runs_total{namespace="prod",loop="measure-queues",outcome="idle"}': '700x120',
    },
    quiet: [
      {
        'millrace_loop_runs_total{namespace="prod",loop="measure-queues",outcome="failed"}': '0+1x120',
        'millrace_loop_runs_total{namespace="prod",loop="measure-queues",outcome="idle"}': '0+9x120',
      },
      { 'millrace_loop_runs_total{namespace="prod",loop="sweep-blobs",outcome="failed"}': '0+4x120' },
    ],
  },
  MillraceDeploymentWithoutWorkers: {
    firing: {
      [`millrace_pool_pending_jobs{${POOL}}`]: '1x120',
      [`millrace_queue_depth{${POOL},delivery="waiting"}`]: '0x120',
    },
    quiet: [
      {
        [`millrace_pool_pending_jobs{${POOL}}`]: '1x120',
        [`millrace_queue_depth{${POOL},delivery="leased"}`]: '1x120',
      },
      {
        [`millrace_pool_pending_jobs{${POOL}}`]: '0x120',
        [`millrace_queue_depth{${POOL},delivery="waiting"}`]: '0x120',
      },
    ],
  },
  MillraceJobsWaitLong: {
    firing: {
      [`millrace_queue_oldest_seconds{${POOL}}`]: '1000+60x120',
      [`millrace_pool_pending_jobs{${POOL}}`]: '1x120',
    },
    quiet: [
      {
        [`millrace_queue_oldest_seconds{${POOL}}`]: '5x120',
        [`millrace_pool_pending_jobs{${POOL}}`]: '1x120',
      },
      // Of a deployment that was stopped on purpose.
      {
        [`millrace_queue_oldest_seconds{${POOL}}`]: '1000+60x120',
        [`millrace_pool_pending_jobs{${POOL}}`]: '0x120',
      },
    ],
  },
  MillracePoolWithoutProgress: {
    firing: {
      [`millrace_queue_depth{${POOL},delivery="waiting"}`]: '4x120',
      [`millrace_queue_depth{${POOL},delivery="leased"}`]: '0x120',
      [`millrace_pool_pending_jobs{${POOL}}`]: '4x120',
    },
    quiet: [
      {
        [`millrace_queue_depth{${POOL},delivery="waiting"}`]: '4x120',
        [`millrace_queue_depth{${POOL},delivery="leased"}`]: '1x120',
        [`millrace_pool_pending_jobs{${POOL}}`]: '5x120',
      },
      // Of a deployment that was stopped on purpose.
      {
        [`millrace_queue_depth{${POOL},delivery="waiting"}`]: '4x120',
        [`millrace_queue_depth{${POOL},delivery="leased"}`]: '0x120',
        [`millrace_pool_pending_jobs{${POOL}}`]: '0x120',
      },
    ],
  },
  MillraceLeaseLosses: {
    firing: { [`millrace_lease_losses_total{${POOL}}`]: '0+1x120' },
    quiet: { [`millrace_lease_losses_total{${POOL}}`]: '7x120' },
  },
  MillraceJobsFail: {
    firing: {
      [`millrace_jobs_finished_total{${POOL},status="failed"}`]: '0+3x120',
      [`millrace_jobs_finished_total{${POOL},status="succeeded"}`]: '0+1x120',
    },
    quiet: {
      [`millrace_jobs_finished_total{${POOL},status="failed"}`]: '0+1x120',
      [`millrace_jobs_finished_total{${POOL},status="succeeded"}`]: '0+3x120',
    },
  },
  MillraceDatabaseConnectionsShort: {
    firing: { 'millrace_database_connections{namespace="prod",role="api",instance="a",state="waiting"}': '3x120' },
    quiet: [
      { 'millrace_database_connections{namespace="prod",role="api",instance="a",state="waiting"}': '0x118 9x2' },
      { 'millrace_database_connections{namespace="prod",role="api",instance="a",state="busy"}': '9x120' },
    ],
  },
  MillraceTransactionStaysOpen: {
    firing: { 'millrace_database_oldest_transaction_seconds{namespace="prod"}': '0+60x120' },
    quiet: [
      { 'millrace_database_oldest_transaction_seconds{namespace="prod"}': '0+60x10 0x108' },
      { 'millrace_database_oldest_transaction_seconds{namespace="prod"}': '20x120' },
    ],
  },
  MillraceEventLoopLags: {
    firing: ['api', 'worker', 'maintenance', 'gateway', 'fleet'].map((role) => ({
      [`nodejs_eventloop_lag_p99_seconds{namespace="prod",role="${role}",instance="a"}`]: '0.9x120',
    })),
    quiet: { 'nodejs_eventloop_lag_p99_seconds{namespace="prod",role="api",instance="a"}': '0.02x120' },
  },
  MillraceMaintenanceAway: {
    firing: { 'nodejs_eventloop_lag_p99_seconds{namespace="prod",role="api"}': '0.02x120' },
    quiet: {
      'nodejs_eventloop_lag_p99_seconds{namespace="prod",role="api"}': '0.02x120',
      'millrace_loop_runs_total{namespace="prod",loop="dispatch",outcome="idle"}': '0+60x120',
    },
  },
  MillraceLoopFails: {
    firing: [
      { 'millrace_loop_consecutive_failures{namespace="prod",loop="sweep-blobs",instance="a"}': '1+9x120' },
      // Hourly, on each of two processes: from the second failure on, and without a pause until a run succeeds.
      {
        'millrace_loop_consecutive_failures{namespace="prod",loop="sweep-sessions",instance="a"}': '_x5 1x59 2x60',
        'millrace_loop_consecutive_failures{namespace="prod",loop="sweep-sessions",instance="b"}': '1x59 2x60',
      },
      // Another process has the loop at times.
      {
        'millrace_loop_consecutive_failures{namespace="prod",loop="sweep-blobs",instance="a"}': '1+9x120',
        'millrace_loop_consecutive_failures{namespace="prod",loop="sweep-blobs",instance="b"}': '1x20 stale',
      },
      // Two take turns, and at times neither has it.
      {
        'millrace_loop_consecutive_failures{namespace="prod",loop="sweep-blobs",instance="a"}': TURNS,
        'millrace_loop_consecutive_failures{namespace="prod",loop="sweep-blobs",instance="b"}': `_x5 ${TURNS}`,
      },
    ],
    quiet: [
      { 'millrace_loop_consecutive_failures{namespace="prod",loop="sweep-blobs",instance="a"}': '0x120' },
      // One run of an hourly loop ran into a timeout.
      { 'millrace_loop_consecutive_failures{namespace="prod",loop="sweep-sessions",instance="a"}': '0x59 1x60' },
      // Another process does the work.
      {
        'millrace_loop_consecutive_failures{namespace="prod",loop="sweep-blobs",instance="a"}': '1+9x120',
        'millrace_loop_consecutive_failures{namespace="prod",loop="sweep-blobs",instance="b"}': '0x120',
      },
    ],
  },
  MillraceAuditLogWaits: {
    firing: { 'millrace_audit_log_waiting_seconds{namespace="prod",step="export"}': '0+60x120' },
    quiet: [
      { 'millrace_audit_log_waiting_seconds{namespace="prod",step="seal"}': '65x120' },
      { 'millrace_audit_log_waiting_seconds{namespace="prod",step="export"}': '0+60x20 0x100' },
    ],
  },
  MillraceWebhooksLate: {
    firing: { 'millrace_webhook_oldest_seconds{namespace="prod"}': '300x120' },
    quiet: { 'millrace_webhook_oldest_seconds{namespace="prod"}': '30x120' },
  },
  MillraceLoopItemsFail: {
    firing: { 'millrace_loop_items_resting{namespace="prod",loop="sweep-blobs"}': '2x120' },
    quiet: { 'millrace_loop_items_resting{namespace="prod",loop="sweep-blobs"}': '0x120' },
  },
  MillraceLedgerImbalance: {
    firing: { 'millrace_ledger_findings{namespace="prod"}': '1x120' },
    quiet: { 'millrace_ledger_findings{namespace="prod"}': '0x120' },
  },
  MillraceRedisNearlyFull: {
    firing: {
      'redis_memory_used_bytes{namespace="prod",instance="r"}': '90x120',
      'redis_memory_max_bytes{namespace="prod",instance="r"}': '100x120',
    },
    quiet: {
      'redis_memory_used_bytes{namespace="prod",instance="r"}': '90x120',
      'redis_memory_max_bytes{namespace="prod",instance="r"}': '0x120',
    },
  },
  MillraceFleetStartsFail: {
    firing: [
      {
        [`millrace_fleet_start_failures{${POOL},role="fleet"}`]: '5x120',
        [`millrace_fleet_workers_wanted{${POOL},role="fleet"}`]: '1x120',
        [`millrace_workers{${POOL},state="ready"}`]: '0x120',
      },
      // One of two is ready.
      {
        [`millrace_fleet_start_failures{${POOL},role="fleet"}`]: '5x120',
        [`millrace_fleet_workers_wanted{${POOL},role="fleet"}`]: '2x120',
        [`millrace_workers{${POOL},state="ready"}`]: '1x120',
      },
      // It waits for a node or an image: no start has failed.
      {
        [`millrace_fleet_start_failures{${POOL},role="fleet"}`]: '0x120',
        [`millrace_fleet_workers_wanted{${POOL},role="fleet"}`]: '1x120',
      },
    ],
    quiet: [
      // Another one is ready: by the fleet, or a worker outside the cluster.
      {
        [`millrace_fleet_start_failures{${POOL},role="fleet"}`]: '1x120',
        [`millrace_fleet_workers_wanted{${POOL},role="fleet"}`]: '2x120',
        [`millrace_workers{${POOL},state="ready"}`]: '1x120',
      },
      // At zero, and started for some minutes each hour.
      {
        [`millrace_fleet_start_failures{${POOL},role="fleet"}`]: '0x120',
        [`millrace_fleet_workers_wanted{${POOL},role="fleet"}`]: '0x110 1x10',
      },
    ],
  },
  MillraceFleetWithoutLeader: {
    firing: [
      {
        'millrace_fleet_leads{namespace="prod",role="fleet",pod="a"}': '1x60 0x60',
        'process_start_time_seconds{namespace="prod",role="fleet",pod="a"}': '1x120',
      },
      // None is there any more.
      {
        'millrace_fleet_leads{namespace="prod",role="fleet",pod="a"}': '1x60 stale',
        'process_start_time_seconds{namespace="prod",role="fleet",pod="a"}': '1x60 stale',
      },
    ],
    quiet: [
      {
        'millrace_fleet_leads{namespace="prod",role="fleet",pod="a"}': '1x60 0x60',
        'millrace_fleet_leads{namespace="prod",role="fleet",pod="b"}': '0x60 1x60',
      },
      // No fleet is installed; all processes have the metric.
      { 'millrace_fleet_leads{namespace="prod",role="api",pod="a"}': '0x120' },
    ],
  },
  MillraceGatewayFails: {
    firing: {
      'millrace_gateway_requests_total{namespace="prod",instance="a",outcome="failed"}': '0+10x120',
      'millrace_gateway_requests_total{namespace="prod",instance="b",outcome="answered"}': '0+90x120',
    },
    quiet: [
      {
        'millrace_gateway_requests_total{namespace="prod",instance="a",outcome="failed"}': '0+1x120',
        'millrace_gateway_requests_total{namespace="prod",instance="a",outcome="answered"}': '0+99x120',
      },
      { 'millrace_gateway_requests_total{namespace="prod",instance="a",outcome="refused"}': '0+99x120' },
    ],
  },
  MillraceModelsUnavailable: {
    firing: { 'millrace_model_cache_failures_total{namespace="prod",instance="a",reason="disk_full"}': '0+1x120' },
    quiet: { 'millrace_model_cache_failures_total{namespace="prod",instance="a",reason="disk_full"}': '7x120' },
  },
  MillraceModelCacheSmall: {
    firing: {
      'millrace_model_cache_evictions_total{namespace="prod",instance="a"}': '0+1x120',
      'millrace_model_cache_lookups_total{namespace="prod",instance="a",outcome="miss"}': '0+3x120',
      'millrace_model_cache_lookups_total{namespace="prod",instance="a",outcome="hit"}': '0+1x120',
    },
    quiet: [
      {
        'millrace_model_cache_evictions_total{namespace="prod",instance="a"}': '0+1x120',
        'millrace_model_cache_lookups_total{namespace="prod",instance="a",outcome="miss"}': '0+1x120',
        'millrace_model_cache_lookups_total{namespace="prod",instance="a",outcome="hit"}': '0+9x120',
      },
      {
        'millrace_model_cache_evictions_total{namespace="prod",instance="a"}': '3x120',
        'millrace_model_cache_lookups_total{namespace="prod",instance="a",outcome="miss"}': '0+1x120',
      },
    ],
  },
};
