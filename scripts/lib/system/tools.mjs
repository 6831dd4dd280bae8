import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { endProcess, identify } from './processes.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */

/**
 * How a tool ended.
 *
 * @typedef {{ code: number | null, output: string }} Outcome
 */

const OUTPUT_LIMIT = 256 * 1024;
/** @type {import('./processes.mjs').StopStep[]} */
const TOOL_STOP = [
  { signal: 'SIGTERM', waitMs: 2_000 },
  { signal: 'SIGKILL', waitMs: 3_000 },
];

/**
 * Run a tool to its end in its own process group, so that a terminal's Ctrl-C reaches this process alone and this process
 * ends the tool.
 *
 * @param {Scope} scope
 * @param {string} command
 * @param {string[]} args
 * @param {{
 *   cwd?: string,
 *   env?: NodeJS.ProcessEnv,
 *   uid?: number,
 *   gid?: number,
 *   input?: string,
 *   show?: boolean,
 *   unbroken?: boolean,
 *   onSpawn?: (identity: import('./processes.mjs').ProcessIdentity) => void,
 * }} [options] `show`: the tool writes to the terminal itself, and `output` stays empty. `unbroken`: it is let run to its end
 *   unless the user insists
 * @returns {Promise<Outcome>}
 * @throws the scope's reason when the command should end
 */
export async function runTool(scope, command, args, { input, show, unbroken, onSpawn, ...options } = {}) {
  scope.check();
  const [program = command, ...rest] = withDeathSignal('SIGKILL', [command, ...args]);
  const shown = show ? 'inherit' : 'pipe';
  const child = spawn(program, rest, {
    ...options,
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', shown, shown],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => (output = (output + text).slice(-OUTPUT_LIMIT)));
  }
  child.stdin?.on('error', () => undefined).end(input);
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  if (identity) onSpawn?.(identity);
  const stop = () => void (identity && endProcess(identity, TOOL_STOP, scope.hurry));
  const cause = unbroken ? scope.hurry : scope.signal;
  cause.addEventListener('abort', stop);
  try {
    await ended;
  } finally {
    cause.removeEventListener('abort', stop);
  }
  scope.check();
  return { code: child.exitCode, output };
}

/**
 * Where a program lies, looked for on PATH and then in `places`.
 *
 * @param {string[]} names
 * @param {string[]} [places]
 * @returns {string | undefined}
 */
export function findProgram(names, places = []) {
  const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), ...places];
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find(isExecutable);
    if (found) return found;
  }
  return undefined;
}

/** @param {string} file */
export function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @type {string | null | undefined} */
let setpriv;

/** The path of util-linux's setpriv, where it is there and knows parent death signals. */
export function findSetpriv() {
  if (setpriv === undefined) {
    const found = process.platform === 'linux' ? findProgram(['setpriv'], ['/usr/bin', '/bin']) : undefined;
    setpriv = found && spawnSync(found, ['--pdeathsig', 'keep', 'true']).status === 0 ? found : null;
  }
  return setpriv ?? undefined;
}

/**
 * A command line that gets `signal` when this process dies without being able to stop it. Without setpriv it is the command
 * line as it stands; what is then left behind is found by the next run.
 *
 * @param {NodeJS.Signals} signal
 * @param {string[]} commandLine
 */
export function withDeathSignal(signal, commandLine) {
  const found = findSetpriv();
  return found ? [found, '--pdeathsig', signal.replace(/^SIG/, ''), ...commandLine] : commandLine;
}
