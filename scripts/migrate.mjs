import process from 'node:process';
import { Failure, readFlags, runCommand, say } from './lib/command/index.mjs';
import { createDatabase, migrate, onDatabase } from './lib/prisma/index.mjs';

const HELP = `Brings the database that DATABASE_URL names to this version's schema; MILLRACE_DATABASE_DIRECT_URL, where that is set. Any
number of these may run at once: they take turns, and those that come later find the work done.`;

/** Any number, the same in all versions. A process holds this lock while it migrates. */
const ADVISORY_LOCK = 7_216_001;
const POLL_MS = 200;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  readFlags(HELP, {});
  // Past a pooler: the lock below belongs to a session, and migrations take one of their own.
  const url = process.env.MILLRACE_DATABASE_DIRECT_URL || process.env.DATABASE_URL;
  if (!url) throw new Failure('DATABASE_URL is not set: name the PostgreSQL database to migrate.');
  await createDatabase(url);
  await onDatabase(url, async (client) => {
    await takeTurn(scope, client);
    await migrate(scope, url);
  });
  say('The database is at the schema of this version.');
}

/**
 * Wait until no other process migrates. By asking again and again: a statement that waits for a lock holds a snapshot, and an index
 * that is built CONCURRENTLY by the one whose turn it is would wait for that.
 *
 * @param {import('./lib/command/scope.mjs').Scope} scope
 * @param {import('pg').Client} client whose session holds the lock afterwards
 */
async function takeTurn(scope, client) {
  for (;;) {
    /** @type {import('pg').QueryResult<{ taken: boolean }>} */
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS taken', [ADVISORY_LOCK]);
    if (rows[0]?.taken) return;
    await scope.pause(POLL_MS);
  }
}

await runCommand(main);
