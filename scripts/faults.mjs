import { randomInt } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { readFlags, runCommand, say, task, wholeNumber } from './lib/command/index.mjs';
import { temporaryFolder } from './lib/services/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { startFaultyStack, withoutSettings } from './lib/stack/index.mjs';
import { HOME, loadBuilt } from './lib/system/index.mjs';

/** @typedef {typeof import('../libs/testing/src/index')} Testing */
/** @typedef {import('../libs/testing/src/index').FaultReport} FaultReport */

/** Runs of this length and above prove something only with so many faults, of every kind. */
const FULL_SECONDS = 300;
const FULL_FAULTS = 100;
const HELP = `npm run faults [-- flags]    a stack of its own under load and under faults, then every invariant

  --seconds N   how long faults go on (60)
  --seed S      decides what is done when; a random one without it
  --logs        keep what the processes logged, also when nothing was broken
  --clients N   clients that submit, watch and cancel meanwhile (6)

Exits with 0 when nothing was broken; from 300 s on only when every kind of fault was done, and 100 in all, and
every invariant had something to look at. An invariant without is shown as unseen.`;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const text = { type: /** @type {const} */ ('string') };
  const flags = readFlags(HELP, { seconds: text, seed: text, clients: text, logs: { type: 'boolean' } });
  const seconds = wholeNumber('--seconds', flags.seconds, { fallback: 60, least: 1, most: 86_400 });
  const seed = wholeNumber('--seed', flags.seed, { fallback: randomInt(1, 1_000_000), least: 1, most: 2_000_000_000 });
  const clients = wholeNumber('--clients', flags.clients, { fallback: 6, least: 1, most: 100 });
  await setUp(scope, withoutSettings(process.env));
  const folder = await temporaryFolder(scope, 'faults');
  const testing = /** @type {Testing} */ (loadBuilt('libs/testing/src/index'));
  const stack = await task(scope, 'Starting a stack behind proxies', () => startFaultyStack(scope, folder, testing));
  say(`Seed ${seed}: faults for ${seconds} s, ${clients} clients.`);
  const report = await testing.runFaults(stack, { seconds, seed, clients, say });
  const code = Math.max(printReport(report, seed), seconds < FULL_SECONDS ? 0 : weigh(report));
  if (code !== 0 || flags.logs) {
    const logs = join(HOME, `faults-${seed}`);
    cpSync(folder.at('logs'), logs, { recursive: true });
    say(`What the processes logged is kept in ${logs}.`);
  }
  return code;
}

/**
 * @param {FaultReport} report
 * @param {number} seed
 * @returns {number} the exit code
 */
function printReport({ faults, outcomes, statuses, drainSeconds, verdicts }, seed) {
  const total = Object.values(faults).reduce((sum, count) => sum + count, 0);
  list(`Faults injected: ${total}`, faults);
  list('What clients were answered', outcomes);
  list(`Jobs, ${drainSeconds.toFixed(1)} s after the last fault`, statuses);
  say('\nInvariants');
  for (const { invariant, checked, breaches } of verdicts) {
    const mark = breaches.length > 0 ? 'BROKEN' : checked === 0 ? 'unseen' : 'holds ';
    say(`  ${mark}  ${invariant}${checked === null ? '' : ` (${checked})`}`);
    for (const { check, subject, detail } of breaches.slice(0, 5)) say(`          ${check} ${subject}: ${detail}`);
    if (breaches.length > 5) say(`          and ${breaches.length - 5} more`);
  }
  const broken = verdicts.reduce((sum, { breaches }) => sum + breaches.length, 0);
  const unseen = unseenOf(verdicts).length;
  if (unseen > 0) say(`\n${unseen} invariants are unproven: there was nothing to look at.`);
  say(`\nSeed ${seed}: ${total} faults, ${broken} breaches.`);
  return broken === 0 && outcomes['jobs acknowledged'] !== 0 ? 0 : 1;
}

/**
 * What holds because there was nothing to look at.
 *
 * @param {FaultReport['verdicts']} verdicts
 * @returns {string[]} invariants
 */
function unseenOf(verdicts) {
  return verdicts.filter(({ checked }) => checked === 0).map(({ invariant }) => invariant);
}

/**
 * Whether a full dose was one: what was not done was not survived, and what was not looked at is not proven.
 *
 * @param {FaultReport} report
 * @returns {number} the exit code
 */
function weigh({ faults, verdicts }) {
  const counts = Object.entries(faults);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const missing = counts.filter(([, count]) => count === 0).map(([kind]) => kind);
  const unseen = unseenOf(verdicts);
  if (total >= FULL_FAULTS && missing.length === 0 && unseen.length === 0) return 0;
  say(`Too little was done for a proof: ${total} faults of ${FULL_FAULTS}, and none of: ${missing.join(', ') || '-'}.`);
  say(`Looked at nowhere: ${unseen.join(', ') || '-'}.`);
  return 1;
}

/**
 * @param {string} title
 * @param {Record<string, number>} counts
 */
function list(title, counts) {
  say(`\n${title}`);
  for (const [name, count] of Object.entries(counts)) say(`  ${String(count).padStart(7)}  ${name}`);
}

await runCommand(main);
