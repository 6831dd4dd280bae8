import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, mkdirSync, openSync, readFileSync, readdirSync, renameSync } from 'node:fs';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';

/**
 * @param {string} text
 * @returns {unknown} the caller names its type
 * @throws {SyntaxError} when it is not JSON
 */
export function parseJson(text) {
  return JSON.parse(text);
}

/**
 * @param {string} path
 * @returns {unknown} undefined when the file is absent or not JSON
 */
export function readJson(path) {
  try {
    return parseJson(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Write a file whole or not at all.
 *
 * @param {string} path
 * @param {string} content
 * @param {number} [mode]
 * @param {{ durable?: boolean }} [options] `durable`: also where the machine stops meanwhile, which costs a write to the disk
 */
export function writeWhole(path, content, mode = 0o644, { durable = false } = {}) {
  const aside = `${path}.${process.pid}`;
  try {
    writeFileSync(aside, content, { mode, flush: durable });
    renameSync(aside, path);
    if (durable) flush(dirname(path));
  } finally {
    rmSync(aside, { force: true });
  }
}

/** @param {string} folder whose names are to outlive the machine */
function flush(folder) {
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/**
 * @param {string} path
 * @param {unknown} value
 * @param {number} [mode]
 * @param {{ durable?: boolean }} [options]
 */
export function writeJson(path, value, mode, options) {
  writeWhole(path, `${JSON.stringify(value, null, 2)}\n`, mode, options);
}

/** @param {...(string | Buffer)} parts */
export function digestOf(...parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
}

/**
 * Every file below a folder, as paths that begin with the folder; none when it does not exist.
 *
 * @param {string} folder
 * @returns {string[]}
 */
export function filesUnder(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesUnder(path) : [path];
    });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Make a folder and those above it. Node's own recursive mkdir never returns on file systems that answer "no such file" to
 * every attempt, such as /proc.
 *
 * @param {string} path
 * @param {number} [mode] of the last folder only
 */
export function makeFolder(path, mode = 0o777) {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    mkdirSync(path, { mode });
  }
}

/**
 * Make a folder for this user alone, where others may write beside it.
 *
 * @param {string} path
 * @returns {boolean} false where what has that name is another user's, or open to others
 */
export function makeOwnFolder(path) {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
  }
  const found = lstatSync(path);
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
}
