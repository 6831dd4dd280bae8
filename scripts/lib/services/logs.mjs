import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemSentenceIn } from '../command/index.mjs';
import { makeFolder, parseJson } from '../system/index.mjs';

const ROTATE_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;

/**
 * Open a log for appending; a large one first makes room by becoming `<path>.1`.
 *
 * @param {string} path
 * @returns {{ fd: number, from: number }} `from`: where the lines of this time begin
 */
export function openLog(path) {
  makeFolder(dirname(path));
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > ROTATE_BYTES) renameSync(path, `${path}.1`);
  const fd = openSync(path, 'a', 0o600);
  return { fd, from: statSync(path).size };
}

/**
 * Why a process ended, by what it wrote last: a sentence on standard error beats an error in the log.
 *
 * @param {string} path
 * @param {number} from
 * @returns {string} '' when it wrote nothing of use
 */
export function lastWords(path, from) {
  const text = tailOf(path, from);
  const system = systemSentenceIn(text);
  if (system) return system;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const sentence = lines.findLast((line) => isSentence(line));
  if (sentence) return sentence.replace(/^.*?\b(FATAL|PANIC|ERROR): +/, '').trim();
  return lines.map(loggedError).findLast((message) => message !== '') ?? '';
}

/**
 * Neither a structured log line nor a line of a stack trace.
 *
 * @param {string} line
 */
function isSentence(line) {
  return (
    !line.startsWith('{') && !/^\s+at |^Node\.js v|^\s*\^|^node:|^\s/.test(line) && !/\bLOG: |^\d+:[CM] /.test(line)
  );
}

/** @typedef {{ level?: string | number, msg?: string, err?: string | { message?: string } }} LogLine */

/** @param {string} line */
function loggedError(line) {
  try {
    const { level = '', msg, err } = /** @type {LogLine} */ (parseJson(line));
    return Number(level) >= 50 || ['error', 'fatal'].includes(String(level))
      ? ((typeof err === 'string' ? err : err?.message) ?? msg ?? '')
      : '';
  } catch {
    return '';
  }
}

/**
 * @param {string} path
 * @param {number} from
 */
function tailOf(path, from) {
  const fd = openSync(path, 'r');
  try {
    const start = Math.max(from, statSync(path).size - TAIL_BYTES);
    const buffer = Buffer.alloc(TAIL_BYTES);
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, TAIL_BYTES, start));
  } finally {
    closeSync(fd);
  }
}
