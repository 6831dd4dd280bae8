import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { createTestFolder, type TestFolder } from '@millrace/testing';
import { promtoolProgram } from '../../scripts/lib/testing/debian-program.mjs';
import { Scope } from '../../scripts/lib/command/scope.mjs';

const RULES = join(__dirname, '..', '..', 'helm', 'millrace', 'rules');
const FILES = readdirSync(RULES);
const POOL = 'namespace="prod",pool="default"';

interface RuleFile {
  groups: { rules: { alert?: string }[] }[];
}
type Series = Record<string, string>;

/** Of each alert: what the metrics do when it must fire, and what they do when it must not (one case or several), minute by minute. */
const CASES: Record<string, { firing: Series; quiet: Series | Series[] }> = {
  MillraceAllProcessesAway: {
    firing: {
      'process_start_time_seconds{namespace="prod",role="api",instance="a"}': '1x60 stale',
      'process_start_time_seconds{namespace="prod",role="maintenance",instance="b"}': '1x120',
    },
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
    firing: { 'up{job="millrace",instance="a"}': '1x60 0x60' },
    quiet: { 'up{job="millrace",instance="a"}': '1x120', 'up{job="another",instance="b"}': '0x120' },
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
  MillraceJobsStartLate: {
    firing: {
      [`millrace_job_start_delay_seconds_bucket{${POOL},le="300"}`]: '0+1x120',
      [`millrace_job_start_delay_seconds_count{${POOL}}`]: '0+2x120',
    },
    quiet: [
      {
        [`millrace_job_start_delay_seconds_bucket{${POOL},le="300"}`]: '0+9x120',
        [`millrace_job_start_delay_seconds_count{${POOL}}`]: '0+10x120',
      },
      // One of two in an hour.
      {
        [`millrace_job_start_delay_seconds_bucket{${POOL},le="300"}`]: '0x90 1x30',
        [`millrace_job_start_delay_seconds_count{${POOL}}`]: '0x90 2x30',
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
  MillraceErrorsBurnFast: {
    firing: {
      'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0+5x120',
      'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+95x120',
    },
    quiet: [
      {
        'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0x120',
        'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+95x120',
      },
      // One of thirty in an hour, just now.
      {
        'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0x117 1x3',
        'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+0.5x120',
      },
    ],
  },
  MillraceErrorsBurn: {
    firing: {
      'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0+1x120',
      'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+99x120',
    },
    quiet: [
      {
        'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0+1x120',
        'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+300x120',
      },
      {
        'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0x60 1x40 2x20',
        'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+0.5x120',
      },
    ],
  },
  MillraceErrorsBurnSlowly: {
    firing: {
      'millrace_http_request_seconds_count{namespace="prod",status="502"}': '0+1x120',
      'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+99x120',
    },
    quiet: [
      {
        'millrace_http_request_seconds_count{namespace="prod",status="429"}': '0+9x120',
        'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+99x120',
      },
      {
        'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0x30 1x40 2x50',
        'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+0.5x120',
      },
    ],
  },
  MillraceDatabaseConnectionsShort: {
    firing: { 'millrace_database_connections{namespace="prod",role="api",instance="a",state="waiting"}': '3x120' },
    quiet: [
      { 'millrace_database_connections{namespace="prod",role="api",instance="a",state="waiting"}': '0x118 9x2' },
      { 'millrace_database_connections{namespace="prod",role="api",instance="a",state="busy"}': '9x120' },
    ],
  },
  MillraceEventLoopLags: {
    firing: { 'nodejs_eventloop_lag_p99_seconds{namespace="prod",role="api",instance="a"}': '0.9x120' },
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
    firing: { 'millrace_loop_runs_total{namespace="prod",loop="sweep-blobs",outcome="failed"}': '0+1x120' },
    quiet: {
      'millrace_loop_runs_total{namespace="prod",loop="sweep-blobs",outcome="failed"}': '0+1x120',
      'millrace_loop_runs_total{namespace="prod",loop="sweep-blobs",outcome="idle"}': '0+1x120',
    },
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
};

let folder: TestFolder;
let promtool: string;
beforeAll(async () => {
  folder = await createTestFolder();
  promtool = await promtoolProgram(new Scope());
});
afterAll(() => folder.drop());

/** What the metrics do, how long, and whether the alert must fire then. */
interface Case {
  series: Series;
  fires: boolean;
  after?: string;
}

/** What promtool finds wrong with an alert in these cases; nothing when it fires in those in which it must, and only then. */
function faultsOf(alert: string, cases: Case[]): string {
  const expr = `clamp_max(count(ALERTS{alertname="${alert}",alertstate="firing"}), 1) or vector(0)`;
  const tests = cases.map(({ series, fires, after = '2h' }) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [{ expr, eval_time: after, exp_samples: [{ labels: '{}', value: fires ? 1 : 0 }] }],
  }));
  const file = join(folder.path, `${alert}.yaml`);
  writeFileSync(
    file,
    stringify({ rule_files: FILES.map((name) => join(RULES, name)), evaluation_interval: '1m', tests }),
  );
  const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

describe('an alert', () => {
  const alerts = FILES.flatMap((file) => {
    const { groups } = parse(readFileSync(join(RULES, file), 'utf8')) as RuleFile;
    return groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => (alert === undefined ? [] : [alert])));
  });

  it('has a case in which it fires and one in which it is quiet', () => {
    expect(Object.keys(CASES).sort()).toEqual([...alerts].sort());
  });

  it.each(alerts)('%s fires when it must, and only then', (alert) => {
    const { firing, quiet } = CASES[alert] ?? { firing: {}, quiet: {} };
    const quietCases = [quiet].flat().map((series) => ({ series, fires: false }));
    expect(faultsOf(alert, [{ series: firing, fires: true }, ...quietCases])).toBe('');
  });

  it('is not taken to fire when it does not', () => {
    expect(faultsOf('MillraceNoSuchAlert', [{ series: {}, fires: true }])).toContain('FAILED');
  });

  it('fires within five minutes after PostgreSQL, or every api process, has gone', () => {
    const loop = 'millrace_loop_runs_total{namespace="prod",loop="measure-queues"';
    const postgres = { [`${loop},outcome="idle"}`]: '0+12x60 720x60', [`${loop},outcome="failed"}`]: '_x60 1+4x60' };
    const goesAfterAnHour = (series: Series): Case[] => [
      { series, fires: false, after: '60m' },
      { series, fires: true, after: '65m' },
    ];
    expect(faultsOf('MillracePostgresAway', goesAfterAnHour(postgres))).toBe('');
    expect(faultsOf('MillraceAllProcessesAway', goesAfterAnHour(CASES.MillraceAllProcessesAway?.firing ?? {}))).toBe(
      '',
    );
  });
});
