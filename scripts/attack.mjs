import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { misuse, readFlags, runCommand, say, wholeNumber } from './lib/command/index.mjs';
import { temporaryFolder } from './lib/services/index.mjs';
import { ROOT, readJson } from './lib/system/index.mjs';
import { writeAttackTable } from './lib/testing/index.mjs';

/** Three kinds of requests, so 20,001 for each seed. */
const REQUESTS_OF_A_KIND = 6_667;
const HELP = `npm run attack -- [flags]    every attack and every fuzz of test/hostile, in full

  --seconds N     how long each attack goes on (30)
  --seeds A,B,C   seeds of the mutated requests and uploads (1,2,3)
  --write         write the table of docs/security.md, of this run alone; needs a commit without changes`;
const SECURITY_PAGE = join(ROOT, 'docs', 'security.md');

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const flags = readFlags(HELP, {
    seconds: { type: 'string' },
    seeds: { type: 'string' },
    write: { type: 'boolean' },
  });
  const seconds = wholeNumber('--seconds', flags.seconds, { fallback: 30, least: 1, most: 600 });
  const seeds = (flags.seeds ?? '1,2,3').split(',');
  if (!seeds.every((seed) => /^\d{1,9}$/.test(seed))) throw misuse('--seeds takes whole numbers, as in 1,2,3');
  const run = { commit: flags.write ? cleanCommit() : '', date: new Date().toISOString().slice(0, 10) };
  const failed = [];
  const folder = await temporaryFolder(scope, 'attack');
  const report = folder.at('attacks.json');
  const attacks = { MILLRACE_ATTACK_SECONDS: String(seconds), MILLRACE_ATTACK_REPORT: report };
  if (!(await passes(scope, 'attacks', attacks))) failed.push('attacks');
  else if (flags.write) {
    await writeAttackTable(
      SECURITY_PAGE,
      /** @type {import('./lib/testing/attack-table.mjs').AttackReport} */ (readJson(report)),
      run,
    );
  }
  for (const seed of seeds) {
    const runs = { MILLRACE_FUZZ_SEED: seed, MILLRACE_FUZZ_RUNS: String(REQUESTS_OF_A_KIND) };
    if (!(await passes(scope, 'fuzz', runs))) failed.push(`fuzz with seed ${seed}`);
  }
  say(failed.length === 0 ? 'Everything held.' : `Failed: ${failed.join(', ')}.`);
  return failed.length === 0 ? 0 : 1;
}

/**
 * The commit that is measured.
 *
 * @throws {import('./lib/command/index.mjs').Failure} where files differ from it: the table would name what was not run
 */
function cleanCommit() {
  /** @param {string[]} words */
  const git = (...words) => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();
  if (git('status', '--porcelain') !== '') throw misuse('--write names the commit: commit what has changed first');
  return git('rev-parse', '--short=12', 'HEAD');
}

/**
 * @param {import('./lib/command/scope.mjs').Scope} scope
 * @param {'attacks' | 'fuzz'} pattern of the files in test/hostile
 * @param {Record<string, string>} settings
 */
async function passes(scope, pattern, settings) {
  scope.check();
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'test.mjs'), `test/hostile/.*${pattern}`], {
    env: { ...process.env, ...settings },
    stdio: 'inherit',
  });
  // A terminal's Ctrl-C reaches the tests as well; they end in their own order.
  const release = scope.defer(() => void child.kill('SIGTERM'));
  const ended = /** @type {Promise<[number | null]>} */ (once(child, 'exit'));
  const [code] = await ended;
  await release();
  return code === 0;
}

await runCommand(main);
