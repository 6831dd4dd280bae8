import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as after } from 'node:timers/promises';
import { Failure } from '../../scripts/lib/command/index.mjs';

const BYTES_PER_KB = 1_024;

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
