import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { describeFinding, missesGate, nameOf, tableOf } from '../bench/lib/finding.mjs';
import { startLoad } from '../bench/lib/load.mjs';
import { machineFacts } from '../bench/lib/machine.mjs';
import {
  Failure,
  duration,
  misuse,
  readCommandLine,
  runCommand,
  say,
  sentenceOf,
  wholeNumber,
} from './lib/command/index.mjs';
import { Fleet, temporaryFolder } from './lib/services/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { choosePorts, startStack, withoutSettings } from './lib/stack/index.mjs';
import { ROOT, makeFolder, writeJson } from './lib/system/index.mjs';

/** @typedef {import('./lib/command/scope.mjs').Scope} Scope */
/** @typedef {import('../bench/lib/bench.js').Bench} Bench */
/** @typedef {import('../bench/lib/bench.js').BenchFlags} BenchFlags */
/** @typedef {import('../bench/lib/bench.js').Finding} Finding */

const FOLDER = join(ROOT, 'bench');
const RESULTS = join(FOLDER, 'results');
/** A bench has no deployments: what would look after their workers would only take its time. */
const NEVER = new Promise(() => undefined);
/** Fewer pairs say nothing on a machine that others use too. */
const FEWEST_PAIRS = 7;
const MOST_PAIRS = 1_000;
const QUICK_PAIRS = 3;
const ALL = 'all';
const WARM_UP_SECONDS = { full: 10, quick: 3 };
const HELP = `npm run bench [-- NAME …] [flags]    the ratios of this service against what it stands on, in interleaved pairs

  NAME        one of bench/*.bench.mjs; all of them with the word all, or without any
  --pairs N   pairs of each measure (${FEWEST_PAIRS} at least)
  --quick     ${QUICK_PAIRS} pairs and smaller amounts: whether something is far off, in minutes; not a figure to report
  --url URL   engine, peers: a running ComfyUI with the test nodes, in place of the simulator

Each writes bench/results/NAME.json. The command fails where the median of a measure misses its gate; with --quick it only says so.`;

/** @param {Scope} scope */
async function main(scope) {
  const { flags, names } = readArguments();
  const benches = await Promise.all(names.map(load));
  await setUp(scope, withoutSettings(process.env));
  /** @type {Finding[]} */
  const findings = [];
  /** @type {string[]} */
  const failed = [];
  for (const bench of benches) {
    try {
      findings.push(...(await measure(scope, bench, flags)));
    } catch (error) {
      scope.check();
      failed.push(bench.name);
      say(`  failed: ${sentenceOf(error)}`);
    }
  }
  if (benches.length > 1) say(`\n${tableOf(findings)}`);
  if (failed.length > 0) throw new Failure(`not measured, for the reasons above: ${failed.join(', ')}`);
  const missed = flags.quick ? [] : findings.filter(missesGate).map(nameOf);
  if (missed.length > 0) throw new Failure(`the gate is missed: ${missed.join(', ')}`);
}

/** @returns {{ flags: BenchFlags, names: string[] }} */
function readArguments() {
  const text = { type: /** @type {const} */ ('string') };
  const known = readdirSync(FOLDER).flatMap((file) => (file.endsWith('.bench.mjs') ? [file.slice(0, -10)] : []));
  const options = { pairs: text, url: text, quick: { type: /** @type {const} */ ('boolean') } };
  const { values, words } = readCommandLine(HELP, options);
  const named = words.filter((word) => word !== ALL);
  const strange = named.find((name) => !known.includes(name));
  if (strange !== undefined) throw misuse(`there is no bench «${strange}», only ${known.join(', ')}`);
  const quick = values.quick ?? false;
  const least = quick ? QUICK_PAIRS : FEWEST_PAIRS;
  const pairs = wholeNumber('--pairs', values.pairs, { fallback: least, least, most: MOST_PAIRS });
  const warmUpSeconds = quick ? WARM_UP_SECONDS.quick : WARM_UP_SECONDS.full;
  const names = named.length < words.length || words.length === 0 ? known : named;
  return { flags: { pairs, warmUpSeconds, quick, url: values.url }, names };
}

/**
 * @param {string} name
 * @returns {Promise<Bench>}
 */
async function load(name) {
  /** @type {unknown} */
  const module = await import(pathToFileURL(join(FOLDER, `${name}.bench.mjs`)).href);
  return /** @type {{ bench: Bench }} */ (module).bench;
}

/**
 * Run one bench in a scope of its own, so that nothing of it is left when the next one begins.
 *
 * @param {Scope} scope
 * @param {Bench} bench
 * @param {BenchFlags} flags
 * @returns {Promise<Finding[]>}
 */
async function measure(scope, bench, flags) {
  say(`\n${bench.name}: ${bench.title}`);
  const unavailable = await bench.unavailable?.();
  if (unavailable !== undefined) {
    say(`  not measured: ${unavailable}`);
    return [];
  }
  const startedAt = new Date();
  const findings = await scope.within(async (own) => bench.run(await contextOf(own, flags)));
  for (const finding of findings) say(describeFinding(finding));
  makeFolder(RESULTS);
  const seconds = (Date.now() - startedAt.getTime()) / 1000;
  const facts = { bench: bench.name, title: bench.title, startedAt, seconds, flags, machine: machineFacts() };
  writeJson(join(RESULTS, `${bench.name}.json`), { ...facts, findings });
  say(`  took ${duration(seconds * 1000)}; every pair is in bench/results/${bench.name}.json`);
  return findings;
}

/**
 * @param {Scope} scope
 * @param {BenchFlags} flags
 * @returns {Promise<import('../bench/lib/bench.js').BenchContext>}
 */
async function contextOf(scope, flags) {
  const folder = await temporaryFolder(scope, 'bench');
  const fleet = new Fleet(scope, folder);
  return {
    scope,
    folder,
    fleet,
    flags,
    startStack: async (options) => {
      const ports = await choosePorts(folder, { port: 0, opsPort: 0 });
      return startStack(
        scope,
        folder,
        { ...ports, surface: 'cloud', workers: 1, settings: {}, fleetAfter: NEVER, ...options },
        fleet,
      );
    },
    startLoad: (file) => startLoad(scope, join(FOLDER, 'load', file)),
  };
}

await runCommand(main);
