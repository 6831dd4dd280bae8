import { join } from 'node:path';
import process from 'node:process';
import { Failure } from '../scripts/lib/command/index.mjs';
import { Fleet, answers } from '../scripts/lib/services/index.mjs';
import { DIST, freePort } from '../scripts/lib/system/index.mjs';
import { findingOf, measurePairs } from './lib/pairs.mjs';

/** @typedef {import('./lib/bench.js').BenchContext} BenchContext */

const JOBS_PER_LATENCY = 15;
const JOBS_PER_STREAM = 20;
/** A light prompt, as a small model on a fast card has it. What the service adds must hide behind it. */
const SECONDS_PER_PROMPT = 0.25;

/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'engine',
  title: 'what a job costs over the same prompt sent to the same ComfyUI directly (P10)',
  async run(context) {
    const url = context.flags.url ?? (await startSimulator(context));
    await assertTestNodes(url);
    const { publicUrl, apiKey } = await context.startStack({
      settings: { MILLRACE_ENGINE: 'comfyui', MILLRACE_COMFYUI_URL: url },
    });
    const load = await context.startLoad('engine.load.mjs');
    const { pairs } = context.flags;
    const service = { publicUrl, apiKey };
    const one = { count: JOBS_PER_LATENCY };
    const latency = await measurePairs({
      pairs,
      ours: () => load.call('jobLatencyMs', { ...service, ...one }),
      floor: () => load.call('promptLatencyMs', { url, ...one }),
      compare: (ours, floor) => ours - floor,
    });
    const many = { count: JOBS_PER_STREAM, seconds: SECONDS_PER_PROMPT };
    const rate = await measurePairs({
      pairs,
      ours: () => load.call('jobsPerSecond', { ...service, ...many }),
      floor: () => load.call('promptsPerSecond', { url, ...many }),
      compare: (ours, floor) => ours / floor,
    });
    return [
      findingOf({
        measure: 'P10 added latency: p50 of POST /jobs to terminal, less p50 of POST /prompt to success',
        unit: 'ms',
        sideUnit: 'ms',
        isHigherBetter: false,
        gate: 60,
        goal: 20,
        pairs: latency,
      }),
      findingOf({
        measure: `P10 sustained rate: jobs over prompts of ${SECONDS_PER_PROMPT} s, ${JOBS_PER_STREAM} queued at once`,
        unit: 'ratio',
        sideUnit: 'per second',
        isHigherBetter: true,
        gate: 0.8,
        goal: 0.97,
        pairs: rate,
      }),
    ];
  },
};

/**
 * The simulator, as a process of its own that speaks ComfyUI's protocol.
 *
 * @param {BenchContext} context
 */
async function startSimulator({ scope, folder }) {
  const port = await freePort();
  const program = join(DIST, 'libs', 'testing', 'src', 'comfyui-simulator', 'main.js');
  const folders = ['input', 'output', 'temp'].flatMap((name) => [`--${name}-directory`, folder.at('comfyui', name)]);
  await new Fleet(scope, folder).start([
    {
      role: 'comfyui',
      name: 'comfyui',
      commandLine: [process.execPath, program, '--port', String(port), ...folders],
      options: {},
      logFile: folder.log('comfyui'),
      isReady: () => answers(`http://127.0.0.1:${port}/prompt`),
      stopSteps: [{ signal: 'SIGKILL', waitMs: 3_000 }],
    },
  ]);
  return `http://127.0.0.1:${port}`;
}

/** @param {string} url */
async function assertTestNodes(url) {
  const answer = await fetch(`${url}/object_info`).catch(() => null);
  if (answer?.ok && (await answer.text()).includes('TestSleep')) return;
  throw new Failure(
    `ComfyUI at ${url} does not answer or lacks the test nodes: put libs/testing/src/comfyui-simulator/test-nodes into its custom_nodes.`,
  );
}
