import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, linkSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import { pause } from '../command/index.mjs';
import { makeFolder, parseJson } from './files.mjs';
import { endProcess, isElsewhere, isRunning, ownIdentity, ownPlace } from './processes.mjs';

/** @typedef {import('./processes.mjs').ProcessIdentity} ProcessIdentity */

/**
 * What a lock file says: its holder and where that runs, and a tool that the holder runs and that may outlive it.
 *
 * @typedef {{ id: string, holder: ProcessIdentity, place?: import('./processes.mjs').Place, tool?: ProcessIdentity }} LockRecord
 */

/**
 * Who holds a lock. `host`: the other host or container in which it runs, or ran when it was cut off: nothing is known of it here.
 *
 * @typedef {ProcessIdentity & { host?: string }} Holder
 */

/** A thief that died between two system calls blocks the theft no longer than this. */
const THEFT_LIMIT_MS = 10_000;
const THEFT_PAUSE_MS = 20;

/** A file that one live process holds. A lock whose holder died is taken over, once; one of another host or container counts as held. */
export class Lock {
  /**
   * @param {string} path
   * @param {LockRecord} record
   */
  constructor(path, record) {
    this.path = path;
    this.record = record;
  }

  /** @param {ProcessIdentity} tool the process that takes over a dead holder's lock ends this tool first */
  noteTool(tool) {
    this.record.tool = tool;
    writeAside(this.path, this.record);
    renameSync(asideOf(this.path, this.record), this.path);
  }

  release() {
    if (readLock(this.path)?.id === this.record.id) rmSync(this.path, { force: true });
  }
}

/**
 * @param {string} path
 * @returns {Promise<Lock | Holder>} the lock, or who holds it
 */
export async function tryLock(path) {
  makeFolder(dirname(path));
  /** @type {LockRecord} */
  const record = { id: randomUUID(), holder: ownIdentity(), place: ownPlace() };
  writeAside(path, record);
  try {
    for (;;) {
      if (linkOnce(asideOf(path, record), path)) return new Lock(path, record);
      const other = readLock(path);
      const held = other && holderOf(other);
      if (held) return held;
      await breakLock(path, other);
      await pause(THEFT_PAUSE_MS);
    }
  } finally {
    rmSync(asideOf(path, record), { force: true });
  }
}

/**
 * @param {LockRecord} record
 * @returns {Holder | undefined} undefined when it is dead
 */
export function holderOf({ holder, place }) {
  if (isRunning(holder)) return holder;
  return place && isElsewhere(place) ? { ...holder, host: place.host } : undefined;
}

/**
 * @param {string} path
 * @returns {LockRecord | undefined} without the tool where another user wrote it: its process would be killed in our name
 */
export function readLock(path) {
  try {
    const file = openSync(path, 'r');
    try {
      const { tool, ...record } = /** @type {LockRecord} */ (parseJson(readFileSync(file, 'utf8')));
      return tool && fstatSync(file).uid === process.getuid?.() ? { ...record, tool } : record;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/**
 * Remove a dead holder's lock, or a file that is no lock. Only the one who links the file under the name of that very lock may, and
 * only if what it linked is that lock: nobody removes the lock of the next holder by mistake. Nothing happens where no file is: its
 * holder has just released it.
 *
 * @param {string} path
 * @param {LockRecord | undefined} dead undefined for what cannot be read
 */
async function breakLock(path, dead) {
  if (dead?.tool) await endProcess(dead.tool, [{ signal: 'SIGKILL', waitMs: 5_000 }]);
  const theft = `${path}.${dead?.id ?? 'unreadable'}.broken`;
  if (!linkOnce(path, theft)) {
    const age = Date.now() - (statSync(theft, { throwIfNoEntry: false })?.ctimeMs ?? Date.now());
    if (age > THEFT_LIMIT_MS) rmSync(theft, { force: true });
    return;
  }
  if (readLock(theft)?.id === dead?.id) rmSync(path, { force: true });
  rmSync(theft, { force: true });
}

/**
 * @param {string} path
 * @param {LockRecord} record
 */
function asideOf(path, record) {
  return `${path}.${record.id}`;
}

/**
 * @param {string} path
 * @param {LockRecord} record
 */
function writeAside(path, record) {
  writeFileSync(asideOf(path, record), JSON.stringify(record), { flag: 'w' });
}

/**
 * @param {string} from
 * @param {string} to
 * @returns {boolean} false when `to` exists, or `from` no longer does
 */
function linkOnce(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (['EEXIST', 'ENOENT'].includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')) return false;
    throw error;
  }
}
