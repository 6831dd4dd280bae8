import { rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { readSecrets, startTestS3 } from '../scripts/lib/servers/index.mjs';
import { Fleet } from '../scripts/lib/services/index.mjs';
import { appSpec, baseEnvironment, withoutSettings } from '../scripts/lib/stack/index.mjs';
import { DIST, freePort, makeFolder } from '../scripts/lib/system/index.mjs';
import { findingOf, pairsOf, takeTurns } from './lib/pairs.mjs';

/** @typedef {{ fetchedBytes: number, seconds: number, waitSeconds: number }} Side */

const JOBS = 20;
const MODELS = 6;
const WORKERS = 3;
const MODELS_PER_CACHE = 2;
const MODEL_BYTES = { full: 200_000_000, quick: 20_000_000 };
/** A part of a model that a cache has room for beside those. */
const SPARE = 0.25;
const BUCKET = 'bench';
/** As by default. */
const WAIT_SECONDS = 10;
const SIMULATOR = join(DIST, 'libs', 'testing', 'src', 'comfyui-simulator', 'main.js');

/*
 * Each side runs the same jobs in the same order on three workers with empty caches, and counts what they fetch from a real S3
 * server. The least possible is each model once: the caches together have room for all of them, so that nothing has to be evicted.
 */
/** @type {import('./lib/bench.js').Bench} */
export const bench = {
  name: 'models',
  title: `bytes that ${WORKERS} workers fetch for ${JOBS} jobs over ${MODELS} models, caches of ${MODELS_PER_CACHE} each, over random placement`,
  async run(context) {
    const { flags, scope, fleet, folder } = context;
    const modelBytes = flags.quick ? MODEL_BYTES.quick : MODEL_BYTES.full;
    const s3 = await startTestS3(fleet, {});
    makeFolder(folder.at('s3', 'data', BUCKET));
    const settings = {
      S3_BUCKET: BUCKET,
      S3_ENDPOINT: s3.endpoint,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      MILLRACE_RATE_LIMIT_PER_MINUTE: '1000000',
      MILLRACE_QUEUE_LIMIT_PER_ACCOUNT: '1000',
    };
    const stack = await context.startStack({ workers: 0, settings });
    const common = baseEnvironment({
      env: { ...withoutSettings(process.env), ...settings },
      folder,
      secrets: readSecrets(folder.at('secrets.json')),
      servers: stack,
      surface: 'cloud',
    });
    const load = await context.startLoad('models.load.mjs');
    await load.call('prepare', { ...stack, models: MODELS, modelBytes });
    /** @type {number[]} */
    let order = [];
    /** @param {number} waitSeconds */
    const side = (waitSeconds) =>
      scope.within(async (own) => {
        const caches = folder.at('caches');
        own.defer(async () => rmSync(caches, { recursive: true, force: true }));
        const ports = await startWorkers(own, { folder, caches, modelBytes, common, waitSeconds });
        const times = /** @type {Omit<Side, 'fetchedBytes'>} */ (await load.call('runJobs', { order }));
        return { ...times, fetchedBytes: await fetchedBytes(ports) };
      });
    const turns = await takeTurns({
      pairs: flags.pairs,
      ours: () => {
        order = shuffledOrder();
        return side(WAIT_SECONDS);
      },
      floor: () => side(0),
    });
    return findings(turns, modelBytes);
  },
};

/**
 * Workers with a simulated ComfyUI and an empty cache each, ready.
 *
 * @param {import('../scripts/lib/command/scope.mjs').Scope} scope
 * @param {{
 *   folder: import('../scripts/lib/services/data-folder.mjs').DataFolder,
 *   caches: string,
 *   modelBytes: number,
 *   common: import('../scripts/lib/stack/apps.mjs').Environment,
 *   waitSeconds: number,
 * }} parts
 * @returns {Promise<number[]>} the ports of their metrics
 */
async function startWorkers(scope, { folder, caches, modelBytes, common, waitSeconds }) {
  const ports = [];
  const specs = [];
  for (let number = 1; number <= WORKERS; number += 1) {
    const name = `worker-${number}`;
    const port = await freePort();
    makeFolder(folder.at('comfyui', name));
    makeFolder(join(caches, name));
    const environment = {
      ...common,
      MILLRACE_ENGINE: 'comfyui',
      MILLRACE_COMFYUI_COMMAND: `${process.execPath} ${SIMULATOR}`,
      MILLRACE_COMFYUI_DIR: folder.at('comfyui', name),
      MILLRACE_WORK_DIR: folder.at('work', name),
      MILLRACE_MODEL_CACHE_DIR: join(caches, name),
      MILLRACE_MODEL_CACHE_BYTES: String(Math.floor(modelBytes * (MODELS_PER_CACHE + SPARE))),
      MILLRACE_MODEL_WAIT_SECONDS: String(waitSeconds),
    };
    specs.push(appSpec(folder, 'worker', name, port, environment));
    ports.push(port);
  }
  await new Fleet(scope, folder).start(specs);
  return ports;
}

/** @param {number[]} ports */
async function fetchedBytes(ports) {
  let total = 0;
  for (const port of ports) {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const [, value] = /^millrace_model_bytes_fetched_total(?:\{[^}]*\})? (\S+)$/m.exec(metrics) ?? [];
    total += Number(value ?? Number.NaN);
  }
  return total;
}

/** Every model at least three times, in an order by chance. */
function shuffledOrder() {
  const order = Array.from({ length: JOBS }, (_, nth) => nth % MODELS);
  for (let last = order.length - 1; last > 0; last -= 1) {
    const chosen = Math.floor(Math.random() * (last + 1));
    [order[last], order[chosen]] = [order[chosen] ?? 0, order[last] ?? 0];
  }
  return order;
}

/**
 * @param {{ ours: Side, floor: Side }[]} turns
 * @param {number} modelBytes
 */
function findings(turns, modelBytes) {
  const least = MODELS * modelBytes;
  const what = `${JOBS} jobs over ${MODELS} models of ${modelBytes / 1e6} MB on ${WORKERS} workers whose caches hold ${MODELS_PER_CACHE}`;
  return [
    findingOf({
      measure: `models fetched: bytes over the least possible (each model once), ${what}; the floor is random placement`,
      unit: 'ratio',
      sideUnit: 'times the least',
      isHigherBetter: false,
      gate: 1.5,
      goal: 1.2,
      pairs: pairsOf(
        turns,
        ({ fetchedBytes }) => fetchedBytes / least,
        (ours) => ours,
      ),
    }),
    findingOf({
      measure: 'models time: from the first submission to the last end, over random placement',
      unit: 'ratio',
      sideUnit: 's',
      isHigherBetter: false,
      gate: 1.1,
      goal: 1,
      pairs: pairsOf(
        turns,
        ({ seconds }) => seconds,
        (ours, floor) => ours / floor,
      ),
    }),
    findingOf({
      measure:
        'models wait: the longest from the turn of a job to its claim (absolute; a worker with its model is waited for 10 s)',
      unit: 's',
      sideUnit: 's',
      isHigherBetter: false,
      gate: 2 * WAIT_SECONDS,
      goal: WAIT_SECONDS,
      pairs: pairsOf(
        turns,
        ({ waitSeconds }) => waitSeconds,
        (ours) => ours,
      ),
    }),
  ];
}
