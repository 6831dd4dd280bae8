import process from 'node:process';
import { ENDING_SIGNALS, Failure, Interrupted, sentenceOf } from './failure.mjs';
import { Scope, reasonOf } from './scope.mjs';
import { complain, say } from './terminal.mjs';

const OLDEST_NODE = [20, 19];
/** npm passes a terminal's Ctrl-C on, so one key press arrives twice; a later signal is a second request. */
const SAME_REQUEST_MS = 1_000;
const PARENT_WATCH_MS = 250;
/** Within this time everything that a command waits for must notice that it should end. */
const END_LIMIT_MS = 15_000;

/**
 * Run a command: its signals, its one sentence when it fails, and the undoing of what it began.
 *
 * @param {(scope: Scope) => Promise<number | void>} main returns the exit code
 */
export async function runCommand(main) {
  const scope = new Scope();
  listenForTheEnd(scope);
  const failures = [];
  let exitCode = 0;
  try {
    assertPlatform();
    exitCode = (await untilTheEnd(scope, main(scope))) ?? 0;
  } catch (error) {
    failures.push(error);
  }
  failures.push(...(await scope.close()));
  for (const failure of failures) exitCode = reportFailure(failure);
  process.exit(exitCode);
}

/**
 * A command that does not see that it should end is left behind.
 *
 * @template T
 * @param {Scope} scope
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
function untilTheEnd(scope, work) {
  const leave = new Promise((/** @type {(value: never) => void} */ _, reject) => {
    scope.signal.addEventListener('abort', () => setTimeout(() => reject(reasonOf(scope.signal)), END_LIMIT_MS));
    scope.hurry.addEventListener('abort', () => reject(reasonOf(scope.signal)));
  });
  return Promise.race([work, leave]);
}

/**
 * @param {unknown} error
 * @returns {number} the exit code
 */
function reportFailure(error) {
  complain(sentenceOf(error));
  if (process.env.MILLRACE_DEBUG) console.error(error);
  return error instanceof Failure ? error.exitCode : 1;
}

/** @param {Scope} scope */
function listenForTheEnd(scope) {
  let endedAt = 0;
  for (const signal of ENDING_SIGNALS) {
    process.on(signal, () => {
      if (!scope.signal.aborted) {
        endedAt = Date.now();
        say('stopping…');
        scope.end(new Interrupted(signal));
      } else if (Date.now() - endedAt > SAME_REQUEST_MS) scope.endNow();
    });
  }
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error) => scope.end(new Failure(sentenceOf(error), { cause: error })));
  }
  endWithNpm(scope);
}

/**
 * A command that npm started ends with npm, even when npm is killed outright and can pass nothing on.
 *
 * @param {Scope} scope
 */
function endWithNpm(scope) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent || scope.signal.aborted) return;
    scope.end(new Interrupted('SIGHUP'));
  }, PARENT_WATCH_MS);
  watch.unref();
}

function assertPlatform() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new Failure(`Millrace needs Node ${OLDEST_NODE.join('.')} or newer; this is Node ${process.versions.node}.`);
  }
  if (process.platform === 'win32') {
    throw new Failure('Millrace runs on Linux and macOS; on Windows, use it inside WSL.');
  }
}
