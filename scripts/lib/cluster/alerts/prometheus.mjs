import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, pause } from '../../command/index.mjs';
import { freePort, makeFolder, parseJson, writeJson, writeWhole } from '../../system/index.mjs';
import { prometheusProgram, redisExporterProgram } from '../../testing/index.mjs';
import { until } from '../client.mjs';
import { start } from '../control-plane.mjs';
import { CHART, NAMESPACE } from '../helm.mjs';

/** @typedef {import('../../services/fleet.mjs').Fleet} Fleet */

/** A minute of a rule is a second here. */
const FASTER = 60;
/** Of rules on what happens every few seconds in truth: loops, the loss of leases, starts of workers, and whether a process answers at all. */
const LESS_FAST = 15;
const IS_SLOW =
  /millrace_loop_runs_total|millrace_loop_consecutive_failures|millrace_lease_losses_total|millrace_fleet_|up\{job=/;
/** Less than five scrapes show no rate. */
const SHORTEST_WINDOW_S = 10;
const SCRAPE_S = 2;
/** @type {Record<string, number>} */
const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 };

/**
 * The chart's rules with every time of theirs shortened, so that a minute need not be waited for: thresholds stay as they are.
 *
 * @param {string} text a file of rules
 * @returns {string}
 */
function shortened(text) {
  // Rule by rule: each has its own pace.
  return text
    .split(/^(?=\s+- (?:alert|record): )/m)
    .map((rule) => {
      const pace = IS_SLOW.test(rule) ? LESS_FAST : FASTER;
      const short = (/** @type {string} */ amount, /** @type {string} */ unit) =>
        Math.ceil((Number(amount) * (UNITS[unit] ?? 1)) / pace);
      return rule
        .replace(
          /\[(\d+)([smhd])\]/g,
          (/** @type {string} */ _, /** @type {string} */ amount, /** @type {string} */ unit) =>
            `[${Math.max(SHORTEST_WINDOW_S, short(amount, unit))}s]`,
        )
        .replace(
          /\bfor: (\d+)([smhd])\b/g,
          (/** @type {string} */ _, /** @type {string} */ amount, /** @type {string} */ unit) =>
            `for: ${short(amount, unit)}s`,
        );
    })
    .join('');
}

/** A real Prometheus that scrapes the pods, which are found by the API server, and judges the chart's rules. */
export class Prometheus {
  /**
   * @param {Fleet} fleet
   * @param {import('../control-plane.mjs').ControlPlane} plane
   * @param {string} redisUrl
   */
  constructor(fleet, plane, redisUrl) {
    this.fleet = fleet;
    this.plane = plane;
    this.redisUrl = redisUrl;
    this.folder = fleet.folder.at('prometheus');
    this.targets = join(this.folder, 'targets.json');
    this.found = '';
    this.url = '';
    this.runs = 0;
  }

  async open() {
    const { scope } = this.fleet;
    makeFolder(join(this.folder, 'rules'));
    const rules = join(CHART, 'rules');
    for (const name of readdirSync(rules))
      writeWhole(join(this.folder, 'rules', name), shortened(readFileSync(join(rules, name), 'utf8')));
    const exporter = `127.0.0.1:${await freePort()}`;
    const flags = [`--redis.addr=${this.redisUrl}`, `--web.listen-address=${exporter}`];
    await start(this.fleet, 'redis-exporter', [await redisExporterProgram(scope), ...flags]);
    writeJson(join(this.folder, 'prometheus.json'), {
      global: { scrape_interval: `${SCRAPE_S}s`, scrape_timeout: `${SCRAPE_S}s`, evaluation_interval: '1s' },
      rule_files: ['rules/*.yaml'],
      scrape_configs: [
        {
          job_name: 'millrace',
          file_sd_configs: [{ files: [this.targets], refresh_interval: '1s' }],
          relabel_configs: [{ source_labels: ['pod'], target_label: 'instance' }],
        },
        { job_name: 'redis', static_configs: [{ targets: [exporter] }] },
      ],
    });
    await this.find();
    this.follow();
  }

  /** The pods that are scraped: Debian's Prometheus cannot ask the API server itself. */
  async find() {
    const selector = encodeURIComponent('millrace/metrics=served');
    const pods = await this.plane.client.list(`/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=${selector}`);
    const running = pods.filter(({ status }) => status?.phase === 'Running' && status.podIP);
    const targets = running.map(({ metadata, status }) => ({
      targets: [`${status?.podIP}:9090`],
      labels: { namespace: NAMESPACE, pod: metadata.name },
    }));
    const text = JSON.stringify(targets);
    if (text !== this.found) writeWhole(this.targets, text);
    this.found = text;
  }

  follow() {
    const { scope } = this.fleet;
    const again = setInterval(() => void this.find().catch(() => undefined), SCRAPE_S * 1_000);
    scope.defer(() => clearInterval(again));
  }

  /** From nothing: what was measured before has no part in what follows. */
  async restart() {
    const last = this.fleet.services.filter(({ spec }) => spec.role === 'prometheus');
    for (const service of last) await service.stop(this.fleet.scope.hurry);
    this.runs += 1;
    const address = `127.0.0.1:${await freePort()}`;
    this.url = `http://${address}`;
    const data = join(this.folder, `data-${this.runs}`);
    const flags = [
      `--config.file=${join(this.folder, 'prometheus.json')}`,
      `--storage.tsdb.path=${data}`,
      `--web.listen-address=${address}`,
    ];
    const program = await prometheusProgram(this.fleet.scope);
    await start(this.fleet, 'prometheus', [program, ...flags], async () => {
      const answer = await fetch(`${this.url}/-/ready`).catch(() => null);
      return answer?.ok === true;
    });
  }

  /**
   * @param {string} path
   * @returns {Promise<unknown>} its data
   */
  async ask(path) {
    const answer = await fetch(`${this.url}/api/v1/${path}`, { signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Failure(`Prometheus answered ${answer.status} to ${path}: ${await answer.text()}`);
    return /** @type {{ data: unknown }} */ (parseJson(await answer.text())).data;
  }

  /** @returns {Promise<string[]>} the names of the alerts that fire, each once, in order */
  async firing() {
    const { alerts } = /** @type {{ alerts: { state: string, labels: { alertname: string } }[] }} */ (
      await this.ask('alerts')
    );
    const firing = alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
    return [...new Set(firing)].sort();
  }

  /**
   * Wait until every process is scraped, and everything has been quiet for some seconds.
   *
   * @param {number} quietMs
   */
  async settle(quietMs) {
    const { scope } = this.fleet;
    await until(scope, 'Prometheus to scrape every process', async () => {
      const { activeTargets } = /** @type {{ activeTargets: { health: string, scrapePool: string }[] }} */ (
        await this.ask('targets?state=active')
      );
      const own = activeTargets.filter(({ scrapePool }) => scrapePool === 'millrace');
      return own.length > 0 && own.every(({ health }) => health === 'up');
    });
    const end = Date.now() + quietMs;
    while (Date.now() < end) {
      const firing = await this.firing();
      if (firing.length > 0) throw new Failure(`Before anything was done there fired ${firing.join(', ')}.`);
      await pause(500, scope.signal);
    }
  }
}
