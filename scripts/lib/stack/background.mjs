import { fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Failure, reasonOf } from '../command/index.mjs';
import { HOME, endProcess, identify, makeFolder } from '../system/index.mjs';
import { WITH_FLEET } from './with-fleet.mjs';

/** @typedef {import('./background-stack.mjs').Report} Report */

const PROGRAM = fileURLToPath(new URL('./background-stack.mjs', import.meta.url));
/** @type {import('../system/processes.mjs').StopStep[]} */
const STOP = [
  { signal: 'SIGTERM', waitMs: 60_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
];

/**
 * Start a stack of its own that the scope stops, unless `keep` is called.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {{ fleet?: boolean }} [options] `fleet`: with the workers of deployments at once, not only when it is kept
 */
export async function startInBackground(scope, { fleet = false } = {}) {
  scope.check();
  const log = join(HOME, 'background.log');
  makeFolder(HOME);
  const fd = openSync(log, 'w');
  // Without npm's variables: it would end with the npm that started this command, also when it is to stay.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const child = fork(PROGRAM, fleet ? [WITH_FLEET] : [], { detached: true, env, stdio: ['ignore', fd, fd, 'ipc'] });
  closeSync(fd);
  const pid = child.pid ?? 0;
  const identity = identify(pid);
  let kept = false;
  scope.defer(async (hurry) => {
    if (kept || !identity || (await endProcess(identity, STOP, hurry))) return;
    throw new Failure(`The stack (pid ${pid}) could not be stopped: end it yourself.`);
  });
  const report = await nextReport(scope, child, log);
  if (report.event === 'failed') throw new Failure(report.sentence, { exitCode: report.exitCode });
  const keep = () => {
    kept = true;
    child.send('stay');
    child.unref();
  };
  return { run: report.run, folder: report.folder, pid, keep };
}

/**
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} log
 * @returns {Promise<Report>}
 */
function nextReport(scope, child, log) {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(/** @type {Report} */ (message)));
    child.once('exit', () => reject(new Failure(`The stack ended without a word; see ${log}.`)));
    scope.signal.addEventListener('abort', () => reject(reasonOf(scope.signal)));
  });
}
