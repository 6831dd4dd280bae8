import { WARM_UP } from './lib/job-runs.mjs';
import { findingOf, measurePairs } from './lib/pairs.mjs';
import { PEER_TOKEN, peerUnavailable, startPeerProxy } from './lib/peer-proxy.mjs';
import { comfyuiFor } from './lib/simulator.mjs';

/** Python compiles nothing while it runs. One at a time: with eight at once its streams call some jobs expired. */
const PEER_WARM_UP = { count: 100, atOnce: 1 };
const JOBS_PER_LATENCY = 15;
const JOBS_AT_ONCE = 40;
const SECONDS = 2;

/**
 * comfy-api-proxy serves the same contract before one ComfyUI, and keeps its jobs in memory: nothing of it survives a restart,
 * nobody is charged, there is one account, and at most eight streams are open at a time. What it does faster is the price of what
 * it does not do.
 *
 * @type {import('./lib/bench.js').Bench}
 */
export const bench = {
  name: 'peers',
  title: 'the same contract served by comfy-api-proxy before the same ComfyUI (P10)',
  unavailable: () => Promise.resolve(peerUnavailable()),
  async run(context) {
    const url = await comfyuiFor(context);
    const peer = await startPeerProxy(context, url);
    const stack = await context.startStack({
      settings: { MILLRACE_ENGINE: 'comfyui', MILLRACE_COMFYUI_URL: url, MILLRACE_RATE_LIMIT_PER_MINUTE: '100000000' },
    });
    const load = await context.startLoad('peers.load.mjs');
    const sides = {
      ours: { publicUrl: stack.publicUrl, apiKey: stack.apiKey },
      floor: { publicUrl: peer, apiKey: PEER_TOKEN },
    };
    await load.call('warmUp', { ...sides.ours, ...WARM_UP });
    await load.call('warmUp', { ...sides.floor, ...PEER_WARM_UP });
    const { pairs } = context.flags;
    const turns = (/** @type {string} */ act, /** @type {object} */ input, /** @type {typeof ratio} */ compare) =>
      measurePairs({
        pairs,
        ours: () => /** @type {Promise<number>} */ (load.call(act, { ...sides.ours, ...input })),
        floor: () => /** @type {Promise<number>} */ (load.call(act, { ...sides.floor, ...input })),
        compare,
      });
    const added = await turns('addedMs', { url, count: JOBS_PER_LATENCY }, (ours, floor) => ours - floor);
    const rate = await turns('polledJobsPerSecond', { count: JOBS_AT_ONCE }, ratio);
    const polls = await turns('pollsPerSecond', { seconds: SECONDS }, ratio);
    return [
      findingOf({
        measure: 'P10 peer latency: p50 that a job adds to its prompt, less the same through comfy-api-proxy',
        unit: 'ms',
        sideUnit: 'ms',
        isHigherBetter: false,
        gate: 16,
        goal: 6,
        pairs: added,
      }),
      findingOf({
        measure: `P10 peer rate: ${JOBS_AT_ONCE} jobs submitted at once and polled, over the same through comfy-api-proxy`,
        unit: 'ratio',
        sideUnit: 'per second',
        isHigherBetter: true,
        gate: null,
        goal: 1,
        pairs: rate,
      }),
      findingOf({
        measure: 'P10 peer polls: of a finished job, 32 at once, over those of comfy-api-proxy',
        unit: 'ratio',
        sideUnit: 'per second',
        isHigherBetter: true,
        gate: null,
        goal: 1,
        pairs: polls,
      }),
    ];
  },
};

/**
 * @param {number} ours
 * @param {number} floor
 */
function ratio(ours, floor) {
  return ours / floor;
}
