import { Failure, say } from '../command/index.mjs';
import { applyMigration } from './apply-migration.mjs';
import { grantRights } from './database-rights.mjs';
import { pendingOf } from './history.mjs';
import { migrationFiles } from './migration-files.mjs';
import { onDatabase } from './on-database.mjs';

/** @typedef {import('pg').Client} Client */
/** @typedef {import('../command/scope.mjs').Scope} Scope */

/** Any number, the same in all versions. A session holds this lock while it migrates. */
const ADVISORY_LOCK = 7_216_001;
const POLL_MS = 200;
const UNDEFINED_DATABASE = '3D000';
/** Another one made it: before this command began, or at the very same time. */
const MADE_BY_ANOTHER = ['42P04', '23505'];

/** A migration takes as long as it needs: the limits that its role has for the service do not hold for it. Those of locks it sets itself. Days are those of UTC, as in the service. */
const SESSION = `
  SET application_name = 'millrace-migrate';
  SET timezone = 'UTC';
  SET statement_timeout = 0;
  SET idle_in_transaction_session_timeout = 0;
  SET lock_timeout = 0`;

/**
 * Bring a database to the checkout's schema; it is created when it is not there. The roles of processes, where there are any,
 * get the rights that this version needs. Any number may do this at once, and one that was cut off at any point is run again.
 *
 * @param {Scope} scope
 * @param {string} url of PostgreSQL itself
 * @param {string} [folder] with the migrations; by default those of the checkout
 * @throws {Failure} when the server is out of reach, or a migration fails
 */
export async function migrate(scope, url, folder) {
  await createDatabase(url);
  await onDatabase(url, async (client) => {
    await client.query(SESSION);
    await takeTurn(scope, client);
    const pending = await pendingOf(client, migrationFiles(folder));
    await onDatabase(url, async (watcher) => {
      for (const migration of pending) await applyMigration(scope, client, watcher, migration);
    });
    await grantRights(client).catch((error) => {
      throw new Failure(`The roles of the processes could not be given their rights: ${messageOf(error)}.`);
    });
  });
}

/**
 * Wait until no other session migrates: also one whose process is gone, while PostgreSQL works at what it was given last. By
 * asking again and again: a statement that waits for a lock holds a snapshot, and an index that is built CONCURRENTLY by the one
 * whose turn it is would wait for that.
 *
 * @param {Scope} scope
 * @param {Client} client whose session holds the lock afterwards
 */
async function takeTurn(scope, client) {
  for (let asked = 0; ; asked += 1) {
    /** @type {import('pg').QueryResult<{ taken: boolean }>} */
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS taken', [ADVISORY_LOCK]);
    if (rows[0]?.taken) return;
    if (asked === 0) say('Another session migrates this database; waiting for it.');
    await scope.pause(POLL_MS);
  }
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

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {{ code?: string }} */ (error).code;
}

/** @param {unknown} error */
function messageOf(error) {
  const { message, code } = /** @type {{ message?: string, code?: string }} */ (error);
  return message || code || String(error);
}
