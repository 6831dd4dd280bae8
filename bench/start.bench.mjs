import { join } from 'node:path';
import process from 'node:process';
import { Failure } from '../scripts/lib/command/index.mjs';
import { answers } from '../scripts/lib/services/index.mjs';
import { ROOT, freePort, runTool } from '../scripts/lib/system/index.mjs';
import { findingOf, measurePairs, pairsOf, takeTurns } from './lib/pairs.mjs';
import { residentBytes, settledBytes } from './lib/process-facts.mjs';

/**
 * @typedef {import('./lib/bench.js').BenchContext} BenchContext
 * @typedef {import('./lib/bench.js').Bench} Bench
 * @typedef {BenchContext['fleet']['services'][number]} Service
 * @typedef {{ apiMs: number, workerMs: number, apiMiB: number, workerMiB: number }} Start
 */

const MEBIBYTE = 1024 * 1024;
/** V8 gives back what starting has left 8 s after the last of it, and more of it 9 s later. */
const IDLE = { readings: 20, everyMs: 1_000 };
/** What the floor runs: a server that answers, and nothing else. */
const BARE = "require('node:http').createServer((_, response) => response.end()).listen(process.argv[1], '127.0.0.1')";

/** @type {Bench} */
export const bench = {
  name: 'start',
  title:
    'from the start of a process to ready, and its memory when idle, beside a bare node:http server; the demo (P14)',
  async run(context) {
    const { pairs } = context.flags;
    await context.startStack();
    const bare = await startBare(context);
    const [api, worker] = [serviceOf(context, 'api'), serviceOf(context, 'worker')];
    const starts = await takeTurns({
      pairs,
      ours: async () => {
        const [apiMs, workerMs] = [await startMs(context, api), await startMs(context, worker)];
        const [apiMiB, workerMiB] = await Promise.all([idleMiB(api), idleMiB(worker)]);
        return { apiMs, workerMs, apiMiB, workerMiB };
      },
      floor: async () => {
        const ms = await startMs(context, bare);
        const mib = residentMiB(bare);
        return { apiMs: ms, workerMs: ms, apiMiB: mib, workerMiB: mib };
      },
    });
    const demo = await measurePairs({
      pairs,
      ours: () => demoSeconds(context),
      floor: async () => (await startMs(context, bare)) / 1_000,
      compare: (ours) => ours,
    });
    /** @type {(measure: string, unit: string, gate: number, goal: number, figure: (start: Start) => number) => ReturnType<typeof findingOf>} */
    const finding = (measure, unit, gate, goal, figure) =>
      findingOf({
        ...{ measure, unit, sideUnit: unit, isHigherBetter: false, gate, goal },
        pairs: pairsOf(starts, figure, (ours) => ours),
      });
    return [
      finding('P14 api start: to ready (absolute)', 'ms', 2_000, 1_000, ({ apiMs }) => apiMs),
      finding('P14 worker start: to ready (absolute)', 'ms', 2_000, 1_000, ({ workerMs }) => workerMs),
      finding('P14 api memory: resident when idle (absolute)', 'MiB', 150, 110, ({ apiMiB }) => apiMiB),
      finding('P14 worker memory: resident when idle (absolute)', 'MiB', 150, 110, ({ workerMiB }) => workerMiB),
      findingOf({
        ...{ measure: 'P14 demo: npm run demo when installed (absolute)', unit: 's', sideUnit: 's' },
        ...{ isHigherBetter: false, gate: 9, goal: 7, pairs: demo },
      }),
    ];
  },
};

/**
 * @param {BenchContext} context
 * @returns {Promise<Service>}
 */
async function startBare({ fleet, folder }) {
  const port = await freePort();
  await fleet.start([
    {
      role: 'floor',
      name: 'the bare server',
      commandLine: [process.execPath, '-e', BARE, String(port)],
      ipc: true,
      logFile: folder.log('floor'),
      isReady: () => answers(`http://127.0.0.1:${port}/`),
      stopSteps: [{ signal: 'SIGKILL', waitMs: 10_000 }],
    },
  ]);
  return serviceOf({ fleet }, 'floor');
}

/**
 * @param {Pick<BenchContext, 'fleet'>} context
 * @param {string} role
 */
function serviceOf({ fleet }, role) {
  const service = fleet.services.find(({ spec }) => spec.role === role);
  if (service === undefined) throw new Failure(`The stack runs no ${role} to measure.`);
  return service;
}

/**
 * @param {BenchContext} context
 * @param {Service} service
 * @returns {Promise<number>} from the start of its process to ready
 */
async function startMs({ scope }, service) {
  await service.stop(scope.hurry);
  const startedAt = performance.now();
  await service.start(scope);
  return performance.now() - startedAt;
}

/** @param {Service} service */
async function idleMiB(service) {
  return (await settledBytes(pidOf(service), IDLE)) / MEBIBYTE;
}

/** @param {Service} service */
function residentMiB(service) {
  return residentBytes(pidOf(service)) / MEBIBYTE;
}

/** @param {Service} service */
function pidOf({ identity, spec }) {
  if (identity === undefined) throw new Failure(`${spec.name} has ended.`);
  return identity.pid;
}

/** @param {BenchContext} context */
async function demoSeconds({ scope }) {
  const startedAt = performance.now();
  const { code, output } = await runTool(scope, process.execPath, [join(ROOT, 'scripts', 'demo.mjs')], { cwd: ROOT });
  if (code !== 0) throw new Failure(`The demo did not succeed: ${output}`);
  return (performance.now() - startedAt) / 1_000;
}
