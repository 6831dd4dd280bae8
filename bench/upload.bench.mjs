import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../scripts/lib/command/index.mjs';
import { findingOf, measurePairs } from './lib/pairs.mjs';
import { residentBytes, settledBytes } from './lib/process-facts.mjs';

/**
 * @typedef {import('./lib/bench.js').BenchContext} BenchContext
 * @typedef {import('./lib/bench.js').Load} Load
 * @typedef {{
 *   pid: number,
 *   url: string,
 *   key: string,
 *   stored: string,
 *   loopDelayMs: () => Promise<number>,
 *   before?: number,
 *   growths: number[],
 *   delays: number[],
 * }} Side `stored`: the folder in which its files lie. `before`: its memory, in bytes.
 */

const MEBIBYTE = 1024 * 1024;
const FILE_BYTES = 256 * MEBIBYTE;
const SETTLING = { readings: 4, everyMs: 100 };
const LOOK_EVERY_MS = 10;
/** The interval of the histogram, which is in each of its figures. */
const RESOLUTION_MS = 10;

/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'upload',
  title: `an upload of ${FILE_BYTES / MEBIBYTE} MiB, hashed, over the same stream stored unread by a bare node:http server (P11)`,
  async run(context) {
    const load = await context.startLoad('upload.load.mjs');
    const [ours, floor] = [await startOurs(context), await startFloor(context)];
    const throughput = await measurePairs({
      pairs: context.flags.pairs,
      ours: () => upload(load, ours),
      floor: () => upload(load, floor),
      compare: (one, other) => one / other,
    });
    /** @param {'growths' | 'delays'} name the first of each belongs to the pair that warms up */
    const absolute = (name) =>
      throughput.map((_, nth) => {
        const [one = NaN, other = NaN] = [ours[name][nth + 1], floor[name][nth + 1]];
        return { ours: one, floor: other, value: one };
      });
    return [
      findingOf({
        measure: `P11 upload: throughput to a folder, to the answer after fsync, over the bare server's`,
        unit: 'ratio',
        sideUnit: 'MiB per second',
        isHigherBetter: true,
        gate: 0.85,
        goal: 0.95,
        pairs: throughput,
      }),
      findingOf({
        measure:
          'P11 memory: the most by which the API was larger during the upload than at its smallest before (absolute)',
        unit: 'MiB',
        sideUnit: 'MiB',
        isHigherBetter: false,
        gate: 64,
        goal: 32,
        pairs: absolute('growths'),
      }),
      findingOf({
        measure: `P11 event loop: p99 of the API's delay during the upload, less the ${RESOLUTION_MS} ms of its histogram (absolute)`,
        unit: 'ms',
        sideUnit: 'ms',
        isHigherBetter: false,
        gate: null,
        goal: 20,
        pairs: absolute('delays'),
      }),
    ];
  },
};

/**
 * @param {BenchContext} context
 * @returns {Promise<Side>}
 */
async function startOurs({ startStack, folder }) {
  const stack = await startStack({ workers: 0, settings: { MILLRACE_MAX_UPLOAD_BYTES: String(FILE_BYTES) } });
  const api = stack.processes.find(({ role }) => role === 'api');
  if (api === undefined) throw new Failure('The stack runs no API to measure.');
  return {
    pid: api.pid,
    url: `${stack.publicUrl}/api/v2/assets`,
    key: stack.apiKey,
    stored: folder.at('blobs', 'blobs'),
    loopDelayMs: async () => {
      const metrics = await (await fetch(`${stack.opsUrl}/metrics`)).text();
      return Number(/^nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? (\S+)$/m.exec(metrics)?.[1]) * 1_000;
    },
    growths: [],
    delays: [],
  };
}

/**
 * @param {BenchContext} context
 * @returns {Promise<Side>}
 */
async function startFloor({ startLoad, folder }) {
  const server = await startLoad('upload.floor.mjs');
  const stored = folder.at('bare');
  /** @type {{ pid: number, url: string }} */
  const { pid, url } = await server.call('listen', { folder: stored });
  return { pid, url, key: 'none', stored, loopDelayMs: () => server.call('loopDelayMs', {}), growths: [], delays: [] };
}

/**
 * One upload, watched from outside. What it stored is removed afterwards: the bench needs room for one file, not for all.
 *
 * @param {Load} load
 * @param {Side} side
 * @returns {Promise<number>} MiB per second
 */
async function upload(load, side) {
  const { pid, url, key } = side;
  // A file of one byte first: what a first request loads is no part of an upload.
  if (side.before === undefined) await load.call('uploadSeconds', { url, key, sizeBytes: 1 });
  // The least so far: what a process throws away later than it might have is no room for an upload to grow in.
  side.before = Math.min(side.before ?? Infinity, await settledBytes(pid, SETTLING));
  await side.loopDelayMs();
  const { before } = side;
  let most = 0;
  const looking = setInterval(() => (most = Math.max(most, residentBytes(pid))), LOOK_EVERY_MS);
  try {
    /** @type {number} */
    const seconds = await load.call('uploadSeconds', { url, key, sizeBytes: FILE_BYTES });
    side.delays.push((await side.loopDelayMs()) - RESOLUTION_MS);
    side.growths.push((most - before) / MEBIBYTE);
    return FILE_BYTES / MEBIBYTE / seconds;
  } finally {
    clearInterval(looking);
    for (const name of readdirSync(side.stored)) rmSync(join(side.stored, name), { recursive: true });
  }
}
