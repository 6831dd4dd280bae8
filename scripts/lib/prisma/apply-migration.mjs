import { Failure, say } from '../command/index.mjs';
import { grantRightsSoFar } from './database-rights.mjs';
import { recordApplied } from './history.mjs';
import { concurrentWorkOf } from './migration-statements.mjs';
import { underWatch } from './lock-watch.mjs';

/** @typedef {import('pg').Client} Client */
/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {import('./migration-files.mjs').Migration} Migration */

/** All that want the table queue behind a statement that waits for its lock, so that wait has to be short. */
const LOCK_TIMEOUT_MS = 2_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** Of an error after which the same script can succeed: it did not get a lock, or waited in a ring with others. */
const LOCK_NOT_AVAILABLE = ['55P03', '40P01'];

/**
 * Apply one migration and write it down. Cut off at any point, it can be run again: a script is one transaction with its row in the
 * history; of an index, which is built outside of transactions, the state of the index says what is left to do.
 *
 * @param {Scope} scope
 * @param {Client} client
 * @param {Client} watcher another connection of the same user
 * @param {Migration} migration
 * @throws {Failure} when the server refuses it; the scope's reason when the command should end, and nothing runs any more
 */
export async function applyMigration(scope, client, watcher, migration) {
  scope.check();
  try {
    await underWatch(scope, client, watcher, migration.name, () =>
      concurrentWorkOf(migration.sql) ? applyOutside(client, migration) : applyWhole(scope, client, migration),
    );
  } catch (error) {
    scope.check();
    const { message, code } = /** @type {{ message?: string, code?: string }} */ (error);
    throw new Failure(`The migration ${migration.name} failed: ${message || code || String(error)}.`, { cause: error });
  }
}

/**
 * As one transaction, with the rights of processes to what it makes: they may start once it is written down. Where it does not get a lock soon, everything is undone, what queued behind it goes on, and it is tried again.
 *
 * @param {Scope} scope
 * @param {Client} client
 * @param {Migration} migration
 */
async function applyWhole(scope, client, migration) {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      await client.query('BEGIN');
      await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await client.query(migration.sql);
      await grantRightsSoFar(client);
      await recordApplied(client, migration);
      await client.query('COMMIT');
      return;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      if (!LOCK_NOT_AVAILABLE.includes(/** @type {{ code?: string }} */ (error).code ?? '')) throw error;
    }
    say(`${migration.name}: did not get its lock, and lets others go first for ${pauseMs / 1_000} s.`);
    await scope.pause(pauseMs);
  }
}

/**
 * The build of an index, or its removal. It queues nobody behind it, and may wait for every transaction that is older.
 *
 * @param {Client} client
 * @param {Migration} migration
 */
async function applyOutside(client, migration) {
  const { verb, index } = concurrentWorkOf(migration.sql) ?? {};
  const found = index === undefined ? undefined : await indexState(client, index);
  // A build that was cut off leaves an index that every write keeps up to date and no query uses.
  if (verb === 'CREATE' && found?.valid === false) await client.query(`DROP INDEX CONCURRENTLY ${index}`);
  const isDone = verb === 'CREATE' ? found?.valid : verb === 'DROP' && found === undefined;
  if (!isDone) await client.query(migration.sql);
  await recordApplied(client, migration);
}

/**
 * @param {Client} client
 * @param {string} index
 * @returns {Promise<{ valid: boolean } | undefined>} undefined where there is none
 */
async function indexState(client, index) {
  /** @type {import('pg').QueryResult<{ valid: boolean }>} */
  const { rows } = await client.query('SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)', [
    index,
  ]);
  return rows[0];
}
