import { WARM_UP } from './lib/job-runs.mjs';
import { findingOf, measurePairs } from './lib/pairs.mjs';
import { comfyuiFor } from './lib/simulator.mjs';

const JOBS_PER_LATENCY = 15;
const JOBS_PER_STREAM = 20;
/** A light prompt, as a small model on a fast card has it. What the service adds must hide behind it. */
const SECONDS_PER_PROMPT = 0.25;

/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'engine',
  title: 'what a job costs over the same prompt sent to the same ComfyUI directly (P10)',
  async run(context) {
    const url = await comfyuiFor(context);
    const { publicUrl, apiKey } = await context.startStack({
      settings: { MILLRACE_ENGINE: 'comfyui', MILLRACE_COMFYUI_URL: url },
    });
    const load = await context.startLoad('engine.load.mjs');
    const { pairs } = context.flags;
    const service = { publicUrl, apiKey };
    await load.call('warmUp', { ...service, ...WARM_UP });
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
        gate: 20,
        goal: 10,
        pairs: latency,
      }),
      findingOf({
        measure: `P10 sustained rate: jobs over prompts of ${SECONDS_PER_PROMPT} s, ${JOBS_PER_STREAM} queued at once`,
        unit: 'ratio',
        sideUnit: 'per second',
        isHigherBetter: true,
        gate: 0.95,
        goal: 0.98,
        pairs: rate,
      }),
    ];
  },
};
