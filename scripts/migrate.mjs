import process from 'node:process';
import { Failure, readFlags, runCommand, say } from './lib/command/index.mjs';
import { createDatabase, migrate, onDatabase } from './lib/prisma/index.mjs';

const HELP = `Brings the database that DATABASE_URL names to this version's schema; MILLRACE_DATABASE_DIRECT_URL, where that is set. Any
number of these may run at once: they take turns, and those that come later find the work done.`;

/** Any number, the same in all versions. A process holds this lock while it migrates. */
const ADVISORY_LOCK = 7_216_001;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  readFlags(HELP, {});
  // Past a pooler: the lock below belongs to a session, and migrations take one of their own.
  const url = process.env.MILLRACE_DATABASE_DIRECT_URL || process.env.DATABASE_URL;
  if (!url) throw new Failure('DATABASE_URL is not set: name the PostgreSQL database to migrate.');
  await createDatabase(url);
  await onDatabase(url, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
    await migrate(scope, url);
  });
  say('The database is at the schema of this version.');
}

await runCommand(main);
