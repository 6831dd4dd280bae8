import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import process from 'node:process';
import { pause } from '../command/index.mjs';

/**
 * A process named so that a later one that got the same pid is not mistaken for it.
 *
 * @typedef {{ pid: number, startedAt: string }} ProcessIdentity
 */

/**
 * One step of stopping a process: the signal, and how long to wait for the end before the next step.
 *
 * @typedef {{ signal: NodeJS.Signals, waitMs: number }} StopStep
 */

const POLL_MS = 20;

/**
 * @param {number} pid
 * @returns {ProcessIdentity | undefined} undefined when no such process runs (a zombie does not)
 */
export function identify(pid) {
  const startedAt = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/**
 * The kernel's start time in clock ticks, with the boot it counts from.
 *
 * @param {number} pid
 */
function startOnLinux(pid) {
  try {
    // The second field, the name in brackets, may itself hold spaces and brackets; the state follows the last bracket.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${bootOnLinux()}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

function bootOnLinux() {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** @param {number} pid */
function startByPs(pid) {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}

/** @param {ProcessIdentity} identity */
export function isRunning({ pid, startedAt }) {
  return identify(pid)?.startedAt === startedAt;
}

/** @returns {ProcessIdentity} */
export function ownIdentity() {
  return identify(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
}

/**
 * Where processes see one another: each host and each container has pids of its own. `boot` is that of the machine's kernel. Parts that a
 * system does not have are empty.
 *
 * @typedef {{ host: string, pids: string, boot: string }} Place
 */

/** @returns {Place} of this process */
export function ownPlace() {
  if (process.platform !== 'linux') return { host: hostname(), pids: '', boot: '' };
  return { host: hostname(), pids: readlinkSync('/proc/self/ns/pid'), boot: bootOnLinux() };
}

/**
 * @param {Place} place
 * @returns {boolean} whether processes may run there of which nothing is known here; a container ends with its machine
 */
export function isElsewhere(place) {
  const own = ownPlace();
  // The name of a machine may change while it runs. One that was started again has none of its processes left.
  return place.boot === own.boot ? place.pids !== own.pids : place.host !== own.host;
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
export function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}

/**
 * End a process, step by step, and the rest of its group with it.
 *
 * @param {ProcessIdentity} identity leader of its own process group
 * @param {StopStep[]} steps the last one is usually SIGKILL
 * @param {AbortSignal} [hurry] skips to the last step
 * @returns {Promise<boolean>} whether it is gone
 */
export async function endProcess(identity, steps, hurry) {
  for (const [index, { signal, waitMs }] of steps.entries()) {
    const last = index === steps.length - 1;
    if (hurry?.aborted && !last) continue;
    if (!isRunning(identity)) break;
    send(last ? -identity.pid : identity.pid, signal);
    const deadline = Date.now() + waitMs;
    while (isRunning(identity) && Date.now() < deadline && (last || !hurry?.aborted)) await pause(POLL_MS);
  }
  return !isRunning(identity);
}

/**
 * @param {number} pid
 * @returns {string} '' when no such process runs
 */
export function commandLineOf(pid) {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}
