import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ROOT } from '../system/index.mjs';
import { chartSchema } from './chart-schema.mjs';
import { readChartValues } from './chart-values.mjs';
import { PROCESSES, listSettings } from './settings-list.mjs';

/** @typedef {import('./chart-values.mjs').ChartValue} ChartValue */

const CHART = join(ROOT, 'helm', 'millrace');
const BEGIN = '<!-- values: begin -->';
const END = '<!-- values: end -->';

/** Settings whose values the chart knows itself, from values of its own. */
const SET_BY_CHART = new Set([
  'MILLRACE_BLOB_DIR',
  'MILLRACE_COMFYUI_ARGUMENTS',
  'MILLRACE_COMFYUI_COMMAND',
  'MILLRACE_COMFYUI_DATA_DIR',
  'MILLRACE_COMFYUI_DEVICES',
  'MILLRACE_COMFYUI_DIR',
  'MILLRACE_COMFYUI_MODELS_DIR',
  'MILLRACE_COMFYUI_RESTART_FILE',
  'MILLRACE_COMFYUI_URL',
  'MILLRACE_DRAIN_SECONDS',
  'MILLRACE_ENGINE',
  'MILLRACE_ENGINE_CLASSES_FILE',
  'MILLRACE_FLEET',
  'MILLRACE_FLEET_DEPLOYMENT',
  'MILLRACE_FLEET_DIR',
  'MILLRACE_FLEET_GPU_RESOURCE',
  'MILLRACE_FLEET_TEMPLATE_DIR',
  'MILLRACE_HOST',
  'MILLRACE_KUBERNETES_ACCOUNT_DIR',
  'MILLRACE_KUBERNETES_URL',
  'MILLRACE_MODEL_CACHE_BYTES',
  'MILLRACE_MODEL_CACHE_DIR',
  'MILLRACE_OPS_HOST',
  'MILLRACE_OPS_PORT',
  'MILLRACE_POOL',
  'MILLRACE_PORT',
  'MILLRACE_PROMETHEUS_NAMESPACE',
  'MILLRACE_PROMETHEUS_URL',
  'MILLRACE_STOP_SECONDS',
  'MILLRACE_SURFACE',
  'MILLRACE_WORKER_CAPACITY',
  'MILLRACE_WORK_DIR',
  'S3_ACCESS_KEY_ID',
  'S3_BUCKET',
  'S3_ENDPOINT',
  'S3_PUBLIC_ENDPOINT',
  'S3_REGION',
]);

/**
 * The chart's files that are made from values.yaml and from the processes' settings.
 *
 * @returns {{ path: string, text: string }[]}
 */
export function chartFiles() {
  const values = readChartValues(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
  const free = listSettings().filter(
    ({ setting, processes }) =>
      !setting.secret && !SET_BY_CHART.has(setting.name) && PROCESSES.some((role) => processes.includes(role)),
  );
  const known = PROCESSES.map((role) => [
    role,
    free.filter(({ processes }) => processes.includes(role)).map(({ setting }) => setting.name),
  ]);
  const schema = chartSchema(
    values,
    free.map(({ setting }) => setting),
  );
  const readme = join(CHART, 'README.md');
  return [
    { path: join(CHART, 'values.schema.json'), text: `${JSON.stringify(schema, null, 2)}\n` },
    {
      path: join(CHART, 'files', 'settings.yaml'),
      text: `# The settings that each process knows and a user of the chart may give. Made by scripts/chart.mjs.\n${stringify(Object.fromEntries(known))}`,
    },
    { path: readme, text: withTable(readFileSync(readme, 'utf8'), values) },
  ];
}

/**
 * @param {string} page
 * @param {ChartValue[]} values
 */
function withTable(page, values) {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`README.md of the chart lacks ${BEGIN} and ${END}.`);
  const rows = leavesOf(values).map(({ path, text, fallback }) => {
    return `| \`${path.join('.')}\` | \`${JSON.stringify(fallback)}\` | ${text.replaceAll('|', '\\|')} |`;
  });
  return [
    before,
    BEGIN,
    '\n\n| value | default | what it is |\n| --- | --- | --- |\n',
    rows.join('\n'),
    '\n\n',
    END,
    after,
  ].join('');
}

/**
 * @param {ChartValue[]} values
 * @returns {ChartValue[]}
 */
function leavesOf(values) {
  return values.flatMap((value) => (value.children.length > 0 ? leavesOf(value.children) : [value]));
}
