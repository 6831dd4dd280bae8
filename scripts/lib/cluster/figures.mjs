import { rmSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { duration, onTaskDone, say } from '../command/index.mjs';
import { HOME, makeFolder, readJson, writeJson } from '../system/index.mjs';

/** @typedef {{ title: string, seconds: number }} Step */
/**
 * How long each step of the last run took, in seconds, and what was found in it beside that.
 *
 * @typedef {{ what: string, processors: number, memoryGiB: number, steps: Step[], found: Record<string, string | number>, held?: boolean }} Figures
 */

const FILE = join(HOME, 'cluster-figures.json');
const GIB = 1_073_741_824;

/** @param {string} what is run */
export function beginFigures(what) {
  makeFolder(HOME);
  rmSync(FILE, { force: true });
  const machine = { processors: cpus().length, memoryGiB: Math.round(totalmem() / GIB) };
  write({ what, ...machine, steps: [], found: {} });
  noteSteps();
}

/** Write down each step of this process, beside those of others. */
export function noteSteps() {
  onTaskDone(noteStep);
}

/**
 * @param {string} title
 * @param {number} elapsedMs
 */
export function noteStep(title, elapsedMs) {
  const figures = read();
  write({ ...figures, steps: [...figures.steps, { title, seconds: Math.round(elapsedMs / 100) / 10 }] });
}

/**
 * @param {string} name of what was found
 * @param {string | number} value
 */
export function noteFound(name, value) {
  const figures = read();
  write({ ...figures, found: { ...figures.found, [name]: value } });
}

/**
 * End with a table of all steps.
 *
 * @param {boolean} held
 */
export function endFigures(held) {
  const figures = { ...read(), held };
  write(figures);
  const { steps, found } = figures;
  const lines = [
    ...steps.map(({ title, seconds }) => [title, seconds.toFixed(1)]),
    ['all steps', duration(steps.reduce((sum, { seconds }) => sum + seconds, 0) * 1_000)],
    ...Object.entries(found).map(([name, value]) => [name, String(value)]),
  ];
  const width = Math.max(...lines.map(([name = '']) => name.length));
  say();
  for (const [name = '', value = ''] of lines) say(`  ${name.padEnd(width)}  ${value.padStart(10)}`);
  say(`  (${FILE})`);
}

/** @returns {Figures} */
function read() {
  const none = { what: '', processors: 0, memoryGiB: 0, steps: [], found: {} };
  return /** @type {Figures | undefined} */ (readJson(FILE)) ?? none;
}

/** @param {Figures} figures */
function write(figures) {
  writeJson(FILE, figures);
}
