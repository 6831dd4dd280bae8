import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, systemSentenceIn } from '../command/index.mjs';
import { ROOT } from '../system/index.mjs';
import { grantRights } from './database-rights.mjs';
import { runPrisma } from './prisma.mjs';

/** @typedef {import('pg').Client} Client */

const MIGRATIONS = join(ROOT, 'prisma', 'migrations');
const CONNECT_TIMEOUT_MS = 10_000;
const UNDEFINED_DATABASE = '3D000';
const UNDEFINED_TABLE = '42P01';
/** Another one made it: before this command began, or at the very same time. */
const MADE_BY_ANOTHER = ['42P04', '23505'];

/**
 * Bring a database to the checkout's schema; it is created when it is not there. The roles of processes, where there are any,
 * get the rights that this version needs.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {string} url
 * @throws {Failure} when the server is out of reach, or a migration fails
 */
export async function migrate(scope, url) {
  await createDatabase(url);
  if (!(await isCurrent(url))) {
    const { code, output } = await runPrisma(scope, ['migrate', 'deploy'], url);
    if (code !== 0) throw new Failure(`The migrations failed: ${reasonIn(output)}`);
  }
  await onDatabase(url, grantRights).catch((error) => {
    throw new Failure(`The roles of the processes could not be given their rights: ${messageOf(error)}.`);
  });
}

/**
 * Make the database that `url` names where the server has none of that name.
 *
 * @param {string} url
 * @throws {Failure} when the server is out of reach, or refuses
 */
export async function createDatabase(url) {
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  try {
    await onDatabase(url, async () => undefined);
  } catch (error) {
    if (codeOf(error) !== UNDEFINED_DATABASE) throw unreachable(url, error);
    const server = new URL(url);
    server.pathname = '/postgres';
    try {
      await onDatabase(server.href, (client) => client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`));
    } catch (refusal) {
      if (MADE_BY_ANOTHER.includes(codeOf(refusal) ?? '')) return;
      throw new Failure(`The database ${name} does not exist and cannot be created: ${messageOf(refusal)}.`);
    }
  }
}

/**
 * @param {string} url
 * @param {unknown} error
 */
function unreachable(url, error) {
  const { host } = new URL(url);
  return new Failure(`PostgreSQL at ${host} (DATABASE_URL) cannot be used: ${messageOf(error)}.`);
}

/**
 * Whether every migration of the checkout is applied as it stands: Prisma's own check takes a second and a half.
 *
 * @param {string} url
 */
async function isCurrent(url) {
  const applied = await onDatabase(url, readApplied).catch((error) => {
    if (codeOf(error) === UNDEFINED_TABLE) return new Map();
    throw error;
  });
  return migrationFiles().every(({ name, checksum }) => applied.get(name) === checksum);
}

/**
 * @param {Client} client
 * @returns {Promise<Map<string, string>>}
 */
async function readApplied(client) {
  /** @type {import('pg').QueryResult<{ migration_name: string, checksum: string }>} */
  const { rows } = await client.query(
    'SELECT migration_name, checksum FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  );
  return new Map(rows.map((row) => [row.migration_name, row.checksum]));
}

/** The migrations of the checkout, with the checksums by which Prisma knows them. */
export function migrationFiles() {
  return readdirSync(MIGRATIONS)
    .map((name) => ({ name, file: join(MIGRATIONS, name, 'migration.sql') }))
    .filter(({ file }) => existsSync(file))
    .map(({ name, file }) => ({ name, checksum: createHash('sha256').update(readFileSync(file)).digest('hex') }));
}

/**
 * @template T
 * @param {string} url
 * @param {(client: Client) => Promise<T>} use
 */
export async function onDatabase(url, use) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {{ code?: string }} */ (error).code;
}

/** @param {unknown} error */
function messageOf(error) {
  const { message, code } = /** @type {{ message?: string, code?: string }} */ (error);
  return message || code || String(error);
}

/**
 * @param {string} output what Prisma printed, with the native engine or with ours
 * @returns {string} the migration, where one is to blame, and the database's own words
 */
export function reasonIn(output) {
  const system = systemSentenceIn(output);
  if (system) return system;
  const [, migration] = /Migration name: (\S+)|migration_name="([^"]+)"/.exec(output)?.filter(Boolean) ?? [];
  const refusal = /\bERROR: (.+)/.exec(output)?.[1];
  const error = /^Error: (.+(?:\n\n.+)?)/m.exec(output)?.[1]?.replace(/\s+/g, ' ');
  const rest = refusal ?? error ?? output.trim().split('\n').at(-1) ?? '';
  return migration ? `${migration}: ${rest}` : rest;
}
