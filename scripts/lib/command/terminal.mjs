/** @typedef {(title: string, elapsedMs: number) => void} TaskListener */

/** @type {Set<TaskListener>} */
const listeners = new Set();
/** True while a task's line is open and waits for its end. */
let lineIsOpen = false;

// A reader that went away (`npm start | head`) must not end the stack.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

function closeLine() {
  if (lineIsOpen) process.stdout.write('\n');
  lineIsOpen = false;
}

/** @param {string} [line] */
export function say(line = '') {
  closeLine();
  process.stdout.write(`${line}\n`);
}

/** @param {string} line */
export function complain(line) {
  closeLine();
  process.stderr.write(`${line}\n`);
}

/**
 * Call a function after each task, with how long that took.
 *
 * @param {TaskListener} listener
 */
export function onTaskDone(listener) {
  listeners.add(listener);
}

/**
 * Do a piece of work under one line that says what it is and, at its end, how long it took.
 *
 * @template T
 * @param {import('./scope.mjs').Scope} scope
 * @param {string} title
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 * @throws the scope's reason when the command should end
 */
export async function task(scope, title, work) {
  scope.check();
  closeLine();
  process.stdout.write(`  ${title} … `);
  lineIsOpen = true;
  const startedAt = performance.now();
  const result = await work();
  scope.check();
  const elapsedMs = performance.now() - startedAt;
  const time = duration(elapsedMs);
  process.stdout.write(lineIsOpen ? `${time}\n` : `  ${title}: ${time}\n`);
  lineIsOpen = false;
  for (const listener of listeners) listener(title, elapsedMs);
  return result;
}

/**
 * @param {number} elapsedMs
 * @returns {string} e.g. `0.4 s`, `2 min 5 s`
 */
export function duration(elapsedMs) {
  const seconds = elapsedMs / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
