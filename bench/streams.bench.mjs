import { setTimeout as after } from 'node:timers/promises';
import { Failure } from '../scripts/lib/command/index.mjs';
import { findingOf, measurePairs } from './lib/pairs.mjs';
import { assertOpenFiles, settledBytes } from './lib/process-facts.mjs';

/**
 * @typedef {import('./lib/bench.js').BenchContext} BenchContext
 * @typedef {import('./lib/bench.js').Load} Load
 * @typedef {import('./lib/bench.js').Pair} Pair
 * @typedef {'ours' | 'floor'} Side
 * @typedef {{ load: Load, pids: Record<Side, number>, before: Record<Side, number>, opsUrl: string, pairs: number }} Scene
 */

const STREAMS = 5_000;
/** Files that a process holds besides its streams. */
const OTHER_FILES = 300;
const SETTLING = { readings: 6, everyMs: 250 };
const SECONDS = 2;
const WAVES = 4;
const PER_JOB = 50;
const GONE_LIMIT_MS = 30_000;

/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'streams',
  title: `what ${STREAMS} event streams cost over the same connections of a bare node:http server (P6)`,
  async run(context) {
    const scene = await setScene(context);
    const { residence, delivery } = await measureOpen(scene);
    const fanOut = await measureFanOut(scene);
    return [
      findingOf({
        measure: `P6 memory: growth of the API by ${STREAMS} streams, each of another running job, over that of bare streams`,
        unit: 'ratio',
        sideUnit: 'bytes per stream',
        isHigherBetter: false,
        gate: 2.5,
        goal: 1.5,
        pairs: residence,
      }),
      findingOf({
        measure: `P6 fan-out: events of ${STREAMS / PER_JOB} jobs to ${PER_JOB} streams each, from publishing to the last client, over a bare write loop`,
        unit: 'ratio',
        sideUnit: 'events per second',
        isHigherBetter: true,
        gate: 0.7,
        goal: 0.8,
        pairs: fanOut,
      }),
      findingOf({
        measure: `P6 delivery: p99 from publishing to the client, an event a second on each of ${STREAMS} streams (absolute)`,
        unit: 'ms',
        sideUnit: 'ms',
        isHigherBetter: false,
        gate: 300,
        goal: 100,
        pairs: delivery,
      }),
    ];
  },
};

/**
 * The service with as many running jobs as there will be streams, and the bare server, neither with a stream yet.
 *
 * @param {BenchContext} context
 * @returns {Promise<Scene>}
 */
async function setScene({ startStack, startLoad, flags }) {
  const settings = { MILLRACE_MAX_CONNECTIONS_PER_ADDRESS: '10000' };
  const stack = await startStack({ workers: 0, settings });
  const load = await startLoad('streams.load.mjs');
  const floor = await startLoad('streams.floor.mjs');
  /** @type {{ pid: number, firstFrame: string }} */
  const { pid, firstFrame } = await load.call('prepare', { ...stack, count: STREAMS });
  /** @type {{ pid: number, port: number }} */
  const bare = await floor.call('listen', { firstFrame });
  await load.call('useFloor', bare);
  const api = stack.processes.find(({ role }) => role === 'api');
  if (api === undefined) throw new Failure('The stack runs no API to measure.');
  assertOpenFiles(api.pid, STREAMS + OTHER_FILES);
  assertOpenFiles(pid, 2 * STREAMS + OTHER_FILES);
  const pids = { ours: api.pid, floor: bare.pid };
  const before = { ours: await settledBytes(pids.ours, SETTLING), floor: await settledBytes(pids.floor, SETTLING) };
  return { load, pids, before, opsUrl: stack.opsUrl, pairs: flags.pairs };
}

/**
 * Each side opens its streams, is looked at, delivers for a while and is left again before the other begins. Memory counts
 * from before the first stream of all, so that what an earlier turn has left counts too.
 *
 * @param {Scene} scene
 */
async function measureOpen(scene) {
  const { load, pids, before, pairs } = scene;
  /** @type {Record<Side, number[]>} */
  const tookMs = { ours: [], floor: [] };
  const turn = async (/** @type {Side} */ side) => {
    await load.call('open', { side, streams: STREAMS, perJob: 1 });
    const bytes = await settledBytes(pids[side], SETTLING);
    tookMs[side].push(await load.call('deliveryMs', { side, seconds: SECONDS }));
    await load.call('close', { side });
    await allGone(scene);
    return (bytes - before[side]) / STREAMS;
  };
  const compare = (/** @type {number} */ ours, /** @type {number} */ floor) => ours / floor;
  const residence = await measurePairs({ pairs, ours: () => turn('ours'), floor: () => turn('floor'), compare });
  // The first of each belongs to the pair that warms up.
  const delivery = residence.map((_, nth) => {
    const [ours = NaN, floor = NaN] = [tookMs.ours[nth + 1], tookMs.floor[nth + 1]];
    return { ours, floor, value: ours };
  });
  return { residence, delivery };
}

/**
 * Both sides have their streams open all the while, and send one event to all of theirs in turns.
 *
 * @param {Scene} scene
 * @returns {Promise<Pair[]>}
 */
async function measureFanOut({ load, pairs }) {
  for (const side of ['ours', 'floor']) await load.call('open', { side, streams: STREAMS, perJob: PER_JOB });
  const turn = (/** @type {Side} */ side) => load.call('deliveriesPerSecond', { side, waves: WAVES });
  return measurePairs({
    pairs,
    ours: () => turn('ours'),
    floor: () => turn('floor'),
    compare: (ours, floor) => ours / floor,
  });
}

/** @param {Scene} scene */
async function allGone({ opsUrl }) {
  const until = Date.now() + GONE_LIMIT_MS;
  while (Date.now() < until) {
    const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
    if (/^millrace_streams_open(?:\{[^}]*\})? 0$/m.test(metrics)) return;
    await after(100);
  }
  throw new Failure(`The API still held streams ${GONE_LIMIT_MS / 1_000} s after their clients had gone.`);
}
