import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { createTestFolder, type TestFolder } from '@millrace/testing';
import { promtoolProgram } from '../../scripts/lib/testing/debian-program.mjs';
import { CASES, type Series } from './support/alert-cases';
import { Scope } from '../../scripts/lib/command/scope.mjs';

const RULES = join(__dirname, '..', '..', 'helm', 'millrace', 'rules');

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
}

interface RuleFile {
  path: string;
  rules: Rule[];
}

const FILES: RuleFile[] = readdirSync(RULES).map((name) => {
  const path = join(RULES, name);
  const { groups } = parse(readFileSync(path, 'utf8')) as { groups: { rules: Rule[] }[] };
  return { path, rules: groups.flatMap(({ rules }) => rules) };
});

/** The file of a rule, and those whose records it reads, directly or through others: promtool takes a second for all of them, in each case. */
function filesOf(isWanted: (rule: Rule) => boolean): RuleFile[] {
  const files = new Set(FILES.filter(({ rules }) => rules.some(isWanted)));
  for (const { rules } of files) {
    const reads = (record: string): boolean => rules.some(({ expr }) => expr.includes(record));
    for (const file of FILES)
      if (file.rules.some(({ record }) => record !== undefined && reads(record))) files.add(file);
  }
  return [...files];
}

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
  const asked = cases.map(({ series, fires, after = '2h' }) => ({
    series,
    checks: [{ expr, eval_time: after, exp_samples: [{ labels: '{}', value: fires ? 1 : 0 }] }],
  }));
  return faultsOfRules(
    alert,
    filesOf((rule) => rule.alert === alert),
    asked,
  );
}

/** What promtool finds wrong with what the rules of these files make of these series. */
function faultsOfRules(name: string, files: RuleFile[], cases: { series: Series; checks: object[] }[]): string {
  const tests = cases.map(({ series, checks }) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([metric, values]) => ({ series: metric, values })),
    promql_expr_test: checks,
  }));
  const file = join(folder.path, `${name}.yaml`);
  writeFileSync(file, stringify({ rule_files: files.map(({ path }) => path), evaluation_interval: '1m', tests }));
  const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

describe('an alert', () => {
  const alerts = FILES.flatMap(({ rules }) => rules.flatMap(({ alert }) => (alert === undefined ? [] : [alert])));

  it('has a case in which it fires and one in which it is quiet', () => {
    expect(Object.keys(CASES).sort()).toEqual([...alerts].sort());
  });

  it.each(alerts)('%s fires when it must, and only then', (alert) => {
    const { firing, quiet } = CASES[alert] ?? { firing: {}, quiet: {} };
    const firingCases = [firing].flat().map((series) => ({ series, fires: true }));
    const quietCases = [quiet].flat().map((series) => ({ series, fires: false }));
    expect(faultsOf(alert, [...firingCases, ...quietCases])).toBe('');
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
    const [api = {}] = [CASES.MillraceAllProcessesAway?.firing ?? []].flat();
    expect(faultsOf('MillraceAllProcessesAway', goesAfterAnHour(api))).toBe('');
  });
});

describe('an error budget', () => {
  it('is what the month leaves of it: whole without errors, below zero when more went wrong, and the caller’s faults take nothing', () => {
    const pool = 'namespace="prod",pool="default"';
    const series = {
      'millrace_http_request_seconds_count{namespace="prod",status="200"}': '0+999x120',
      'millrace_http_request_seconds_count{namespace="prod",status="500"}': '0+1x120',
      [`millrace_jobs_finished_total{${pool},status="succeeded",fault="none"}`]: '0+98x120',
      [`millrace_jobs_finished_total{${pool},status="failed",fault="caller"}`]: '0+500x120',
      [`millrace_jobs_finished_total{namespace="prod",pool="bad",status="succeeded",fault="none"}`]: '0+98x120',
      [`millrace_jobs_finished_total{namespace="prod",pool="bad",status="expired",fault="service"}`]: '0+2x120',
      [`millrace_job_start_delay_seconds_bucket{${pool},le="300"}`]: '0+975x120',
      [`millrace_job_start_delay_seconds_count{${pool}}`]: '0+1000x120',
      // As Prometheus 3 writes the bound of a bucket.
      [`millrace_job_start_delay_seconds_bucket{namespace="prod",pool="three",le="300.0"}`]: '0+1000x120',
      [`millrace_job_start_delay_seconds_bucket{namespace="prod",pool="three",le="1300.0"}`]: '0+1000x120',
      [`millrace_job_start_delay_seconds_count{namespace="prod",pool="three"}`]: '0+1000x120',
    };
    const expected = {
      'round(millrace:availability_budget_left:ratio, 0.001)': [['{namespace="prod"}', 0]],
      'round(millrace:success_budget_left:ratio, 0.001)': [
        ['{namespace="prod",pool="bad"}', -1],
        ['{namespace="prod",pool="default"}', 1],
      ],
      'round(millrace:start_budget_left:ratio, 0.001)': [
        ['{namespace="prod",pool="default"}', 0.5],
        ['{namespace="prod",pool="three"}', 1],
      ],
    };
    const checks = Object.entries(expected).map(([expr, samples]) => ({
      expr,
      eval_time: '2h',
      exp_samples: samples.map(([labels, value]) => ({ labels, value })),
    }));
    const files = filesOf(({ record }) => record?.includes('_budget_left:') ?? false);
    expect(faultsOfRules('budgets', files, [{ series, checks }])).toBe('');
  });
});
