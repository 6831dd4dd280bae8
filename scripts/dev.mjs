import { join } from 'node:path';
import process from 'node:process';
import { Interrupted, runCommand, say, sentenceOf, task } from './lib/command/index.mjs';
import { migrate, migrationFiles } from './lib/prisma/index.mjs';
import { Fleet, claimFolder } from './lib/services/index.mjs';
import { prepareToBuild, programs, setUp } from './lib/setup/index.mjs';
import { assertKnown, choosePorts, introduce, readStartOptions, startStack, untilEnded } from './lib/stack/index.mjs';
import { ROOT, isRunning } from './lib/system/index.mjs';

/** What belongs to the processes: the rest of the checkout may change without a restart. */
const WATCHED = ['apps', 'libs', 'prisma'].map((name) => join(ROOT, name));
const IS_NOT_RUN = /\.(spec|int-spec|e2e-spec|timing-spec)\.ts$|\.md$|~$/;
/** An editor that saves several files at once causes one restart. */
const QUIET_MS = 50;
/** What runs is given back at once, and event streams end: a restart waits for nothing. */
const QUICK_STOP = { MILLRACE_DRAIN_SECONDS: '0' };
/** The order of restarts: it is the api that someone waits for. */
const TURNS = ['api', 'worker', 'maintenance', 'fleet'];

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const { data, ...given } = readStartOptions();
  const options = { ...given, settings: { ...QUICK_STOP, ...given.settings } };
  const folder = await claimFolder(scope, data);
  const ports = await choosePorts(folder, options, scope);
  await setUp(scope, { ...process.env, ...options.settings });
  const { listSettings } = await import('./lib/chart/index.mjs');
  assertKnown(
    options.settings,
    listSettings().map(({ setting }) => setting.name),
  );
  const fleet = new Fleet(scope, folder);
  const started = programs();
  const [run] = await Promise.all([startStack(scope, folder, { ...options, ...ports }, fleet), prepareToBuild()]);
  fleet.lost = ({ message }) => say(`${message} It is started again at the next change.`);
  await introduce(run, folder.path);
  say('Ready. Every change of a source restarts what runs it. Ctrl-C stops everything.');
  const running = { programs: started, schema: schema() };
  await followSources(scope, () => restartChanged(scope, fleet, run.databaseUrl, running));
  const reason = await untilEnded(scope);
  if (!(reason instanceof Interrupted)) throw reason;
}

/**
 * Call `restart` after each change of a source, never twice at a time: what changes meanwhile is taken up afterwards.
 *
 * @param {import('./lib/command/scope.mjs').Scope} scope
 * @param {() => Promise<void>} restart
 */
async function followSources(scope, restart) {
  // Not there before the packages are installed.
  const { watch } = await import('chokidar');
  const watcher = watch(WATCHED, { ignoreInitial: true, ignored: (path) => IS_NOT_RUN.test(path) });
  scope.defer(() => watcher.close());
  let running = false;
  let changed = false;
  const begin = async () => {
    changed = true;
    if (running) return;
    running = true;
    while (changed && !scope.signal.aborted) {
      await scope.pause(QUIET_MS);
      changed = false;
      await restart();
    }
    running = false;
  };
  watcher.on('all', () => void begin().catch((/** @type {Error} */ error) => scope.end(error)));
}

/** What decides whether the database has to be migrated. */
function schema() {
  return JSON.stringify(migrationFiles());
}

/**
 * Build, migrate, and restart the processes whose program is another one than they run, or that do not run. A source that does
 * not compile, or a process that does not start, is said, and waits for the next change.
 *
 * @param {import('./lib/command/scope.mjs').Scope} scope
 * @param {Fleet} fleet
 * @param {string} databaseUrl
 * @param {{ programs: Record<string, string>, schema: string }} running what runs now; what is restarted is noted there
 */
async function restartChanged(scope, fleet, databaseUrl, running) {
  try {
    await setUp(scope);
    if (running.schema !== schema()) await migrate(scope, databaseUrl);
    running.schema = schema();
    const current = programs();
    const services = fleet.services.filter(({ spec: { role }, identity }) => {
      return role in current && (current[role] !== running.programs[role] || !identity || !isRunning(identity));
    });
    services.sort((one, other) => TURNS.indexOf(one.spec.role) - TURNS.indexOf(other.spec.role));
    running.programs = current;
    if (services.length === 0) return;
    const names = services.map(({ spec }) => spec.name).join(', ');
    await task(scope, `Restarting ${names}`, () => fleet.restart(services));
  } catch (error) {
    if (scope.signal.aborted) return;
    say(sentenceOf(error));
  }
}

await runCommand(main);
