import process from 'node:process';
import { readFlags, runCommand, say, task, wholeNumber } from './lib/command/index.mjs';
import { temporaryFolder } from './lib/services/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { choosePorts, startStack, withoutSettings } from './lib/stack/index.mjs';
import { RESCUE_SETTINGS, measureRescues } from './lib/testing/index.mjs';

const HELP = `node scripts/measure-rescue.mjs [-- --kills N]    how long after a kill of its worker a job's next attempt starts

  --kills N   workers killed (50)`;
const WORKERS = 3;
/** The lease, and what rescuing and dispatching may take on top. */
const LIMIT_MS = 12_000;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const flags = readFlags(HELP, { kills: { type: 'string' } });
  const kills = wholeNumber('--kills', flags.kills, { fallback: 50, least: 1, most: 10_000 });
  await setUp(scope, withoutSettings(process.env));
  const folder = await temporaryFolder(scope, 'rescue');
  const ports = await choosePorts(folder, { port: 0, opsPort: 0 });
  const run = await startStack(scope, folder, {
    ...ports,
    surface: 'cloud',
    workers: WORKERS,
    settings: RESCUE_SETTINGS,
  });
  /** @type {number[]} */
  const waits = [];
  await task(scope, `Killing ${kills} workers`, async () => {
    while (waits.length < kills) waits.push(...(await measureRescues(scope, run, 1)));
  });
  waits.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) =>
    waits[Math.min(waits.length - 1, Math.ceil(waits.length * share) - 1)] ?? 0;
  say(`From SIGKILL to the start of the next attempt, ${kills} kills, in ms:`);
  say(`  p50 ${at(0.5)}  p90 ${at(0.9)}  p99 ${at(0.99)}  most ${at(1)}`);
  return at(0.99) < LIMIT_MS ? 0 : 1;
}

await runCommand(main);
