import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { Failure } from '../command/index.mjs';
import {
  HOME,
  Lock,
  endProcess,
  holderOf,
  makeFolder,
  readJson,
  readLock,
  tryLock,
  writeJson,
} from '../system/index.mjs';

/** @typedef {import('./service.mjs').Service} Service */
/** @typedef {import('../system/processes.mjs').ProcessIdentity} ProcessIdentity */
/** @typedef {ProcessIdentity & { name: string, stopSteps: import('../system/processes.mjs').StopStep[] }} ProcessRecord */

const TEMPORARY = join(HOME, 'tmp');
/** A folder whose owner has not yet locked it is nobody's only after this time. */
const UNCLAIMED_LIMIT_MS = 60 * 60 * 1000;
/** No command keeps a temporary folder for longer: of one that another host or container took nothing else can be known here. */
const LONGEST_MS = 24 * 60 * 60 * 1000;
const LOCK = 'supervisor.lock';
const PROCESSES = 'processes.json';

/** The folder of one stack: its data, secrets and logs. One command at a time holds it. */
export class DataFolder {
  /** @param {string} path */
  constructor(path) {
    this.path = path;
  }

  /** @param {...string} names */
  at(...names) {
    return join(this.path, ...names);
  }

  /** @param {string} name */
  log(name) {
    return this.at('logs', `${name}.log`);
  }

  /**
   * Remember what runs, for the case that this process is killed.
   *
   * @param {Service[]} services in the order of their start
   */
  record(services) {
    const records = services.flatMap(({ identity, spec }) => {
      return identity ? [{ ...identity, name: spec.name, stopSteps: spec.stopSteps }] : [];
    });
    writeJson(this.at(PROCESSES), records);
  }
}

/**
 * Take hold of a data folder, making it when it is not there, and end what a killed holder left running.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {string} path
 * @returns {Promise<DataFolder>}
 * @throws {Failure} naming the process that holds it
 */
export async function claimFolder(scope, path) {
  const folder = new DataFolder(resolve(path));
  makeFolder(folder.path);
  const held = await tryLock(folder.at(LOCK));
  if (!(held instanceof Lock)) {
    throw new Failure(
      held.host === undefined
        ? `A stack already runs on ${folder.path} (pid ${held.pid}): stop it first, or choose another --data.`
        : `A stack runs on ${folder.path} on another host or in another container (${held.host}, pid ${held.pid}): stop it there, or choose another --data. If it runs no longer, as after a kill of a container that was started again, remove ${folder.at(LOCK)}.`,
    );
  }
  scope.defer(() => {
    rmSync(folder.at(PROCESSES), { force: true });
    held.release();
  });
  await endLeftovers(folder);
  return folder;
}

/** @param {DataFolder} folder */
async function endLeftovers(folder) {
  const records = /** @type {ProcessRecord[]} */ (readJson(folder.at(PROCESSES)) ?? []);
  for (const { name, stopSteps, ...identity } of records.reverse()) {
    if (await endProcess(identity, stopSteps)) continue;
    throw new Failure(`${name} (pid ${identity.pid}) of an earlier run does not stop: end it yourself.`);
  }
  rmSync(folder.at(PROCESSES), { force: true });
  rmSync(folder.at('run.json'), { force: true });
}

/**
 * A folder for one command, removed at its end. What killed commands left is cleared away on the occasion.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {string} purpose
 */
export async function temporaryFolder(scope, purpose) {
  makeFolder(TEMPORARY);
  await clearAbandoned();
  const path = mkdtempSync(join(TEMPORARY, `${purpose}-`));
  // mkdtemp closes the folder to others; PostgreSQL, which runs as another user under root, must pass through.
  chmodSync(path, 0o755);
  scope.defer(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  return claimFolder(scope, path);
}

/**
 * @param {ReturnType<typeof readLock>} lock of a temporary folder
 * @param {number} ageMs
 */
function isInUse(lock, ageMs) {
  if (lock === undefined) return ageMs < UNCLAIMED_LIMIT_MS;
  const holder = holderOf(lock);
  return holder !== undefined && (holder.host === undefined || ageMs < LONGEST_MS);
}

async function clearAbandoned() {
  for (const name of readdirSync(TEMPORARY)) {
    const folder = new DataFolder(join(TEMPORARY, name));
    const lock = readLock(folder.at(LOCK));
    const { mtimeMs = Date.now(), uid } = statSync(folder.path, { throwIfNoEntry: false }) ?? {};
    if (uid !== process.getuid?.()) continue;
    if (isInUse(lock, Date.now() - mtimeMs)) continue;
    await endLeftovers(folder);
    rmSync(folder.path, { recursive: true, force: true, maxRetries: 3 });
  }
}
