import process from 'node:process';
import pg from 'pg';
import { runCommand } from './lib/command.mjs';
import { temporaryFolder } from './lib/data-folder.mjs';
import { readFlags, wholeNumber } from './lib/flags.mjs';
import { send } from './lib/processes.mjs';
import { setUp } from './lib/setup.mjs';
import { choosePorts, startStack } from './lib/stack.mjs';
import { say, task } from './lib/terminal.mjs';

const HELP = `node scripts/measure-rescue.mjs [-- --kills N]    how long after a kill of its worker a job's next attempt starts

  --kills N   workers killed (50)`;
const WORKERS = 3;
const POLL_MS = 10;
const LIMIT_MS = 60_000;
const GRAPH = {
  1: {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 512, height: 512, steps: 100_000, seed: 1, feed: 0.055, kill: 0.062 },
  },
  2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'x' } },
};

/** @typedef {import('./lib/stack.mjs').RunFile} RunFile */

/** @param {import('./lib/scope.mjs').Scope} scope */
async function main(scope) {
  const flags = readFlags(HELP, { kills: { type: 'string' } });
  const kills = wholeNumber('--kills', flags.kills, { fallback: 50, least: 1, most: 10_000 });
  await setUp(scope, process.env);
  const folder = await temporaryFolder(scope, 'rescue');
  const ports = await choosePorts(folder, { port: 0, opsPort: 0 });
  const settings = { MILLRACE_MAX_ATTEMPTS: '100' };
  const run = await startStack(scope, folder, { ...ports, surface: 'cloud', workers: WORKERS, settings });
  const client = new pg.Client({ connectionString: run.databaseUrl });
  await client.connect();
  scope.defer(() => client.end());
  /** @type {number[]} */
  const waits = [];
  await task(scope, `Killing ${kills} workers`, async () => {
    while (waits.length < kills) waits.push(await measureOne(scope, run, client));
  });
  waits.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) =>
    waits[Math.min(waits.length - 1, Math.ceil(waits.length * share) - 1)] ?? 0;
  say(`From SIGKILL to the start of the next attempt, ${kills} kills, in ms:`);
  say(`  p50 ${at(0.5)}  p90 ${at(0.9)}  p99 ${at(0.99)}  most ${at(1)}`);
  return at(0.99) < 12_000 ? 0 : 1;
}

/**
 * @param {import('./lib/scope.mjs').Scope} scope
 * @param {RunFile} run
 * @param {pg.Client} client
 * @returns {Promise<number>} milliseconds
 */
async function measureOne(scope, run, client) {
  const { id } = await call(run, 'POST', '/api/v2/jobs', { workflow: GRAPH });
  const first = await until(scope, async () => {
    const { rows } = await client.query(
      'SELECT w.pid FROM jobs j JOIN workers w ON w.id = j.worker_id WHERE j.id = $1 AND j.attempt = 1',
      [id],
    );
    return rows[0];
  });
  await scope.pause(Math.random() * 4_000);
  const killedAt = Date.now();
  send(first.pid, 'SIGKILL');
  await until(scope, async () => {
    const { rows } = await client.query('SELECT 1 FROM job_attempts WHERE job_id = $1 AND attempt = 2', [id]);
    return rows[0];
  });
  const waited = Date.now() - killedAt;
  await call(run, 'POST', `/api/v2/jobs/${id}/cancel`);
  await until(scope, async () => {
    const { rows } = await client.query("SELECT 1 FROM jobs WHERE id = $1 AND delivery = 'done'", [id]);
    return rows[0];
  });
  return waited;
}

/**
 * @template T
 * @param {import('./lib/scope.mjs').Scope} scope
 * @param {() => Promise<T | undefined>} look
 * @returns {Promise<T>}
 */
async function until(scope, look) {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error('it did not happen within a minute');
    await scope.pause(POLL_MS);
  }
}

/**
 * @param {RunFile} run
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 */
async function call(run, method, path, body) {
  const response = await fetch(run.publicUrl + path, {
    method,
    headers: { authorization: `Bearer ${run.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return /** @type {{ id: string }} */ (await response.json());
}

await runCommand(main);
