import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, say, task } from '../command/index.mjs';
import { migrate } from '../prisma/index.mjs';
import { notePorts, readPorts, readSecrets, saveSecrets, startServers } from '../servers/index.mjs';
import { Fleet } from '../services/index.mjs';
import { Lock, choosePort, freePort, makeOwnFolder, ownPlace, tryLock, writeJson } from '../system/index.mjs';
import { consoleUrlOf, obtainAccess } from './account.mjs';
import { appSpec, baseEnvironment } from './apps.mjs';
import { DeploymentWorkers, fleetSpec } from './deployments.mjs';
import { ownSettings } from './own-settings.mjs';
import { startRemoteWorkers } from './remote-workers.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {import('../services/data-folder.mjs').DataFolder} DataFolder */

/**
 * What a stack is started with. `settings`: environment variables of the processes, over those of `environment`. Without that it is a
 * stack of its own, which takes no setting of the shell. `throwaway`: a crash of the machine may cost its data. `fleetAfter`: the
 * workers of deployments are looked after from then on, not at once.
 *
 * @typedef {{
 *   surface: 'cloud' | 'self_hosted',
 *   port: number,
 *   opsPort: number,
 *   workers: number,
 *   remoteWorkers?: number,
 *   settings: Record<string, string>,
 *   environment?: NodeJS.ProcessEnv,
 *   throwaway?: boolean,
 *   fleetAfter?: Promise<unknown>,
 * }} StackOptions
 */

/**
 * What outside tools read to find a running stack.
 *
 * @typedef {{
 *   publicUrl: string,
 *   opsUrl: string,
 *   consoleUrl: string,
 *   apiKey: string,
 *   adminToken: string,
 *   databaseUrl: string,
 *   redisUrl: string,
 *   blobStore: 'fs' | 's3',
 *   processes: { role: string, pid: number }[],
 * }} RunFile
 * `consoleUrl` signs in once, within 15 minutes of the start. `apiKey` is empty where the surface asks for none.
 */

/**
 * Choose the ports of the two listeners: those asked for, else those of the last time, else the usual one, else free ones.
 *
 * @param {DataFolder} folder
 * @param {{ port: number, opsPort: number, usualPort?: number | undefined }} wanted
 * @param {Scope} [scope] where others may start at the same time: until its end no other takes the port
 */
export async function choosePorts(folder, wanted, scope) {
  const known = readPorts(folder);
  const preferred = known.public ?? wanted.usualPort;
  const isOurs = !preferred || !scope || (await claimPort(scope, preferred));
  return {
    port: await choosePort(wanted.port, '--port', isOurs ? preferred : undefined),
    opsPort: await choosePort(wanted.opsPort, '--ops-port', known.ops),
  };
}

/** Where this user's stacks, of all checkouts, lock ports. */
function portLocks() {
  return join(tmpdir(), `millrace-ports-${process.getuid?.() ?? ''}`);
}

/**
 * Take hold of a port for one stack of this user at a time: a look at whether it is free says nothing of who listens first. Containers
 * that share the folder have ports, and so locks, of their own.
 *
 * @param {Scope} scope
 * @param {number} port
 * @returns {Promise<boolean>} whether it is held until the end of the scope
 */
export async function claimPort(scope, port) {
  const folder = portLocks();
  if (!makeOwnFolder(folder)) return false;
  const path = join(folder, `${port}-${ownPlace().pids.replace(/\D/g, '')}.lock`);
  const lock = await tryLock(path);
  if (!(lock instanceof Lock)) {
    const where = lock.host === undefined ? '' : ` on ${lock.host}; if it runs no longer, remove ${path}`;
    say(`Another stack holds port ${port} (pid ${lock.pid}${where}): this one takes another port.`);
    return false;
  }
  scope.defer(() => lock.release());
  return true;
}

/**
 * Start everything on a folder and write `run.json` there when all is ready. The scope stops it.
 *
 * @param {Scope} scope
 * @param {DataFolder} folder
 * @param {StackOptions} options
 * @param {Fleet} [fleet] of the folder: for commands that restart processes of it
 * @returns {Promise<RunFile>}
 */
export async function startStack(scope, folder, options, fleet = new Fleet(scope, folder)) {
  const env = { ...(options.environment ?? ownSettings(scope)), ...options.settings };
  const { port, opsPort } = options;
  const secrets = readSecrets(folder.at('secrets.json'));
  const servers = await startServers(fleet, env, { secrets, throwaway: options.throwaway });
  await task(scope, 'Migrating the database', () => migrate(scope, servers.databaseUrl));
  const common = baseEnvironment({ env, folder, secrets, servers, surface: options.surface });
  await task(scope, 'Starting the processes', () => startApps(fleet, common, options));
  notePorts(folder, { public: port, ops: opsPort });
  const addresses = {
    publicUrl: (env.MILLRACE_PUBLIC_URL || `http://127.0.0.1:${port}`).replace(/\/+$/, ''),
    opsUrl: `http://127.0.0.1:${opsPort}`,
    adminToken: common.MILLRACE_ADMIN_TOKEN ?? '',
  };
  const local = { ...addresses, publicUrl: `http://127.0.0.1:${port}` };
  const count = options.remoteWorkers ?? 0;
  if (count > 0) {
    await task(scope, 'Starting the gateway and its workers', async () => {
      secrets.workerToken = await startRemoteWorkers(fleet, common, { ...addresses, kept: secrets.workerToken }, count);
    });
    saveSecrets(folder.at('secrets.json'), secrets);
  }
  const access = options.surface === 'cloud' ? await obtainAccess(local, secrets) : null;
  if (access) saveSecrets(folder.at('secrets.json'), { ...secrets, ...access });
  const apiKey = access?.apiKey ?? common.MILLRACE_TOKEN ?? '';
  const consoleUrl = await consoleUrlOf(local, apiKey, options.surface);
  const workers = new DeploymentWorkers();
  const run = keepRunFile(fleet, workers, {
    ...addresses,
    consoleUrl,
    apiKey,
    ...servers,
    blobStore: common.S3_BUCKET ? 's3' : 'fs',
  });
  const startFleet = async () => {
    await options.fleetAfter;
    if (!fleet.scope.signal.aborted) await fleet.start([await fleetSpec(folder, common, workers)]);
  };
  // Nothing waits for it: the stack serves without.
  startFleet().catch((/** @type {Error} */ failure) => fleet.lost(failure));
  return run;
}

/**
 * @param {Fleet} fleet
 * @param {Record<string, string | undefined>} common
 * @param {StackOptions} options
 */
async function startApps(fleet, common, { port, opsPort, workers }) {
  const api = appSpec(fleet.folder, 'api', 'api', opsPort, { ...common, MILLRACE_PORT: String(port) });
  const maintenance = appSpec(fleet.folder, 'maintenance', 'maintenance', await freePort(), common);
  const pool = [];
  for (let number = 1; number <= workers; number += 1) {
    const name = `worker-${number}`;
    const MILLRACE_WORK_DIR = fleet.folder.at('work', name);
    pool.push(appSpec(fleet.folder, 'worker', name, await freePort(), { ...common, MILLRACE_WORK_DIR }));
  }
  // In this order they are stopped from the last to the first: workers give back what they run while the api still answers.
  await Promise.all([fleet.start([maintenance, api]), fleet.start(pool)]);
}

/**
 * Write the run file now and after each restart of a process, and remove it before anything is stopped.
 *
 * @param {Fleet} fleet
 * @param {DeploymentWorkers} workers
 * @param {Omit<RunFile, 'processes'>} facts
 * @returns {RunFile}
 */
function keepRunFile(fleet, workers, facts) {
  const path = fleet.folder.at('run.json');
  const current = () => ({
    ...facts,
    processes: [
      ...fleet.services.flatMap(({ identity, spec }) => (identity ? [{ role: spec.role, pid: identity.pid }] : [])),
      ...workers.pids.map((pid) => ({ role: 'worker', pid })),
    ],
  });
  const write = () => writeJson(path, current(), 0o600);
  fleet.scope.check();
  fleet.changed = () => (fleet.scope.signal.aborted ? undefined : write());
  fleet.scope.defer(() => {
    fleet.changed = () => undefined;
    rmSync(path, { force: true });
  });
  write();
  return current();
}

/**
 * Wait until the scope ends.
 *
 * @param {Scope} scope
 * @returns {Promise<Failure>} why
 */
export async function untilEnded({ signal }) {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return signal.reason instanceof Failure ? signal.reason : new Failure(String(signal.reason));
}
