// Runs in namespaces of its own (namespace.mjs): here are the cluster and what is seen of it. Started by `npm run test:cluster`.
import { mkdirSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { Failure, runCommand } from '../command/index.mjs';
import { Fleet, claimFolder } from '../services/index.mjs';
import { HOME, runTool } from '../system/index.mjs';
import { fireAlerts } from './alerts/fire-alerts.mjs';
import { judgeObjects } from './chart-objects.mjs';
import { conform } from './conformance.mjs';
import { startControlPlane } from './control-plane.mjs';
import { useModels, workFromOutside } from './engine-steps.mjs';
import { noteSteps } from './figures.mjs';
import { deployAndScale, drainBusyWorker, killController, sayWhy } from './fleet-steps.mjs';
import { Helm } from './helm.mjs';
import { systemProgram } from './needs.mjs';
import { startNode } from './node.mjs';
import { BRIDGE, NODE_ADDRESS, POD_RANGE, SERVICE_RANGE } from './places.mjs';
import { install, uninstall, upgradeAndRollBack } from './release.mjs';
import { startReleaseServers } from './servers.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */

/** Folders that containerd, kubelet and the network's plugins write to, wherever their own folders are. */
const EMPTIED = ['/run', '/var/log'];
/** Other commands' folders, whose processes are not seen here and would be taken for dead. */
const HIDDEN = `${HOME}/tmp`;
const SHADOWED = '/var/lib';

/**
 * A network of its own, and nothing that is written reaches the machine's folders.
 *
 * @param {Scope} scope
 */
async function prepare(scope) {
  const ip = systemProgram('ip');
  const run = async (/** @type {string} */ command, /** @type {string[]} */ args) => {
    const { code, output } = await runTool(scope, command, args);
    if (code !== 0) throw new Failure(`${command} ${args.join(' ')} failed: ${output.trim()}`);
  };
  mkdirSync(HIDDEN, { recursive: true });
  for (const folder of [...EMPTIED, HIDDEN]) await run('mount', ['-t', 'tmpfs', 'tmpfs', folder]);
  const [upper, work] = ['/run/upper', '/run/work'];
  for (const folder of [upper, work]) mkdirSync(folder);
  const layers = `lowerdir=${SHADOWED},upperdir=${upper},workdir=${work}`;
  await run('mount', ['-t', 'overlay', 'overlay', '-o', layers, SHADOWED]);
  await run(ip, ['link', 'set', 'lo', 'up']);
  await run(ip, ['link', 'add', BRIDGE, 'type', 'bridge']);
  await run(ip, ['address', 'add', `${NODE_ADDRESS}/${POD_RANGE.split('/')[1]}`, 'dev', BRIDGE]);
  await run(ip, ['link', 'set', BRIDGE, 'up']);
  // So that this process reaches Services, too: their addresses are exchanged for those of pods on the way out.
  await run(ip, ['route', 'add', SERVICE_RANGE, 'dev', BRIDGE]);
  // The namespace's own: the machine's stays as it is.
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
}

/** @param {Scope} scope */
async function main(scope) {
  const [path = '', what = 'whole', cause = ''] = process.argv.slice(2);
  noteSteps();
  await prepare(scope);
  const fleet = new Fleet(scope, await claimFolder(scope, path));
  const plane = await startControlPlane(fleet);
  const helm = new Helm(fleet, plane);
  if (what === 'whole' || what === 'api-server') {
    await judgeObjects(scope, plane.client, helm);
    const code = await conform(scope, plane);
    if (what === 'api-server' || code !== 0) return code;
  }
  await startNode(fleet, plane);
  const servers = await startReleaseServers(fleet);
  const site = { scope, client: plane.client, helm, servers };
  const service = await install(site);
  if (what === 'alerts') await fireAlerts(site, service, { fleet, plane }, cause);
  else {
    await deployAndScale(site, service);
    await sayWhy(site, service);
    await useModels(site, service);
    await workFromOutside(site, service, fleet);
    await drainBusyWorker(site, service);
    await killController(site, service);
    if (what === 'whole') await fireAlerts(site, service, { fleet, plane });
    await upgradeAndRollBack(site, service);
  }
  await uninstall(site);
  return 0;
}

await runCommand(main);
