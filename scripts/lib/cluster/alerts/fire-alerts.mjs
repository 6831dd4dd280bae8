import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, pause, say, task } from '../../command/index.mjs';
import { noteFound } from '../figures.mjs';
import { CHART } from '../helm.mjs';
import { CAUSES } from './causes.mjs';
import { Prometheus } from './prometheus.mjs';
import { AlertTools } from './tools.mjs';

const QUIET_MS = 6_000;
const LIMIT_MS = 180_000;

/** @returns {string[]} every alert of the chart */
function alertsOfChart() {
  const folder = join(CHART, 'rules');
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  return texts.flatMap((text) => [...text.matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? ''));
}

/**
 * Bring about what each alert is for, in the release, and see it fire, and no other one. All that is found is reported together.
 *
 * @param {import('../release.mjs').Site} site
 * @param {import('../service.mjs').InstalledService} service
 * @param {{ fleet: import('../../services/fleet.mjs').Fleet, plane: import('../control-plane.mjs').ControlPlane }} cluster
 * @param {string} [only] causes that have this in what they are
 */
export async function fireAlerts(site, service, { fleet, plane }, only = '') {
  const prometheus = new Prometheus(fleet, plane, site.servers.redisUrl);
  await prometheus.open();
  const tools = new AlertTools(site, service, fleet);
  /** @type {string[]} */
  const faults = [];
  const causes = CAUSES.filter(({ what }) => what.includes(only));
  if (causes.length === 0)
    throw new Failure(`No cause has "${only}" in it. They are:\n${CAUSES.map(({ what }) => what).join('\n')}`);
  for (const cause of causes) {
    await task(site.scope, `Alerts: ${cause.what}`, async () => {
      const found = await fire(site.scope, prometheus, tools, cause);
      if (found !== undefined) {
        say(`    ${found}`);
        faults.push(`${cause.what}: ${found}`);
      }
    });
  }
  const raised = new Set(causes.flatMap(({ raises }) => raises));
  const never = only === '' ? alertsOfChart().filter((name) => !raised.has(name)) : [];
  if (never.length > 0) faults.push(`no cause here raises ${never.join(', ')}`);
  if (faults.length > 0) throw new Failure(faults.join('\n'));
  say(`    ${raised.size} alerts fired for ${causes.length} causes, and no other one`);
  noteFound('alerts that fired for their causes', `${raised.size} for ${causes.length}`);
}

/**
 * @param {import('../../command/scope.mjs').Scope} scope
 * @param {Prometheus} prometheus
 * @param {AlertTools} tools
 * @param {import('./causes.mjs').Cause} cause
 * @returns {Promise<string | undefined>} what was wrong
 */
async function fire(scope, prometheus, tools, { raises, mayRaise = [], prepare, bring }) {
  tools.lastFailure = '';
  const allowed = [...raises, ...mayRaise];
  /** @type {import('./tools.mjs').Undo | undefined} */
  let undo;
  try {
    await tools.allAreReady();
    undo = await prepare?.(tools);
    await prometheus.restart();
    if (bring) {
      await prometheus.settle(QUIET_MS);
      undo = await bring(tools);
    }
    const deadline = Date.now() + LIMIT_MS;
    for (;;) {
      scope.check();
      const firing = await prometheus.firing();
      const other = firing.filter((name) => !allowed.includes(name));
      if (other.length > 0) return `${other.join(', ')} fired, too`;
      if (raises.every((name) => firing.includes(name))) return undefined;
      if (Date.now() > deadline) {
        const last = tools.lastFailure === '' ? '' : ` (what failed last: ${tools.lastFailure})`;
        return `only ${firing.join(', ') || 'none'} of ${raises.join(', ')} fired${last}`;
      }
      await pause(500, scope.signal);
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.message;
  } finally {
    await undo?.();
  }
}
