import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../system/index.mjs';

/** @typedef {{ name: string, checksum: string, sql: string }} Migration `checksum`: SHA-256 of the file, for Prisma's command line; `migrate` goes by the name alone */

const MIGRATIONS = join(ROOT, 'prisma', 'migrations');

/**
 * The migrations of a folder, in their order.
 *
 * @param {string} [folder] by default those of the checkout
 * @returns {Migration[]}
 */
export function migrationFiles(folder = MIGRATIONS) {
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, file: join(folder, name, 'migration.sql') }))
    .filter(({ file }) => existsSync(file))
    .map(({ name, file }) => {
      const sql = readFileSync(file, 'utf8');
      return { name, checksum: createHash('sha256').update(sql).digest('hex'), sql };
    });
}
