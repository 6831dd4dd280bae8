import { readFileSync, readdirSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as after } from 'node:timers/promises';
import { Failure } from '../../scripts/lib/command/index.mjs';

const BYTES_PER_KB = 1_024;
/** Of a tick of the processor times in /proc: Linux counts a hundred a second for every program (proc_pid_stat(5)). */
const MS_PER_TICK = 10;

/**
 * Memory of a process that is in RAM, in bytes.
 *
 * @param {number} pid
 */
export function residentBytes(pid) {
  return BYTES_PER_KB * Number(factOf(pid, 'status', /^VmRSS:\s+(\d+) kB$/m));
}

/**
 * The least of several readings: garbage that is about to be collected is no need of the process.
 *
 * @param {number} pid
 * @param {{ readings: number, everyMs: number }} pace
 */
export async function settledBytes(pid, { readings, everyMs }) {
  let least = Infinity;
  for (let nth = 0; nth < readings; nth += 1) {
    await after(everyMs);
    least = Math.min(least, residentBytes(pid));
  }
  return least;
}

/**
 * Processor time, user and system, that processes have used so far, with that of everything they have started: in milliseconds,
 * by the process's number.
 *
 * @param {number[]} pids
 */
export function processorMs(pids) {
  const all = readdirSync('/proc').flatMap((name) => timesOf(name));
  const wanted = new Set(pids);
  // A child may be listed before its parent.
  for (let size = 0; size !== wanted.size;) {
    size = wanted.size;
    for (const { pid, parent } of all) if (wanted.has(parent)) wanted.add(pid);
  }
  const ticks = all.filter(({ pid }) => wanted.has(pid)).reduce((sum, process) => sum + process.ticks, 0);
  return ticks * MS_PER_TICK;
}

/**
 * @param {string} name in /proc
 * @returns {{ pid: number, parent: number, ticks: number }[]} none where it is no process, or has ended
 */
function timesOf(name) {
  if (!/^\d+$/.test(name)) return [];
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    // The program's name is in brackets, and may hold anything. After it: state, parent, …, and the times from the 12th on.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return [{ pid: Number(name), parent: Number(fields[1]), ticks }];
  } catch {
    return [];
  }
}

/**
 * @param {number} pid
 * @param {number} count files, sockets among them, that the process will hold open
 * @throws {Failure} when its limit is lower
 */
export function assertOpenFiles(pid, count) {
  const limit = factOf(pid, 'limits', /^Max open files\s+(\S+)/m);
  if (limit === 'unlimited' || Number(limit) >= count) return;
  throw new Failure(
    `A process may hold ${limit} files open here, and this bench needs ${count}: raise the limit (ulimit -n ${count}).`,
  );
}

/**
 * @param {number} pid
 * @param {string} file
 * @param {RegExp} pattern its first group is the fact
 */
function factOf(pid, file, pattern) {
  if (process.platform !== 'linux') throw new Failure('This bench reads /proc of its processes: run it on Linux.');
  const fact = pattern.exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1];
  if (fact === undefined) throw new Failure(`/proc/${pid}/${file} does not say what this bench looks for.`);
  return fact;
}
