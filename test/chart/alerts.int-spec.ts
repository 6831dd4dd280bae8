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
  groups: { rules: { alert: string }[] }[];
}
type Series = Record<string, string>;

/** Of each alert: what the metrics do when it must fire, and what they do when it must not, minute by minute. */
const CASES: Record<string, { firing: Series; quiet: Series }> = {
  MillraceJobsWaitLong: {
    firing: { [`millrace_queue_oldest_seconds{${POOL}}`]: '1000+60x120' },
    quiet: { [`millrace_queue_oldest_seconds{${POOL}}`]: '5x120' },
  },
  MillracePoolWithoutProgress: {
    firing: {
      [`millrace_queue_depth{${POOL},delivery="waiting"}`]: '4x120',
      [`millrace_queue_depth{${POOL},delivery="leased"}`]: '0x120',
    },
    quiet: {
      [`millrace_queue_depth{${POOL},delivery="waiting"}`]: '4x120',
      [`millrace_queue_depth{${POOL},delivery="leased"}`]: '1x120',
    },
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
    quiet: {
      'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0x120',
      'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+95x120',
    },
  },
  MillraceErrorsBurnSlowly: {
    firing: {
      'millrace_http_request_seconds_count{namespace="prod",status="502"}': '0+1x120',
      'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+99x120',
    },
    quiet: {
      'millrace_http_request_seconds_count{namespace="prod",status="429"}': '0+9x120',
      'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+99x120',
    },
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

/** How many alerts of this name promtool sees after two hours of these series. */
function isFiring(alert: string, series: Series): boolean {
  const query = `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`;
  const expect = (value: number): object => ({
    rule_files: FILES.map((file) => join(RULES, file)),
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [{ expr: query, eval_time: '2h', exp_samples: [{ labels: '{}', value }] }],
      },
    ],
  });
  const [quiet, firing] = [0, 1].map((value) => {
    const file = join(folder.path, `${alert}-${value}.yaml`);
    writeFileSync(file, stringify(expect(value)));
    return spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' });
  });
  if (firing?.status === 0) return true;
  if (quiet?.status === 0) return false;
  throw new Error(`promtool failed: ${firing?.stdout ?? ''}${firing?.stderr ?? ''}`);
}

describe('an alert', () => {
  const alerts = FILES.flatMap((file) => {
    const { groups } = parse(readFileSync(join(RULES, file), 'utf8')) as RuleFile;
    return groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  });

  it('has a case in which it fires and one in which it is quiet', () => {
    expect(Object.keys(CASES).sort()).toEqual([...alerts].sort());
  });

  it.each(alerts)('%s fires when it must, and only then', (alert) => {
    const { firing, quiet } = CASES[alert] ?? { firing: {}, quiet: {} };
    expect(isFiring(alert, firing)).toBe(true);
    expect(isFiring(alert, quiet)).toBe(false);
  });
});
