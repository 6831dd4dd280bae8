import process from 'node:process';
import { Failure, readFlags, runCommand, say } from './lib/command/index.mjs';
import { migrate } from './lib/prisma/index.mjs';

const HELP = `Brings the database that DATABASE_URL names to this version's schema; MILLRACE_DATABASE_DIRECT_URL, where that is set. Any
number of these may run at once: they take turns, and those that come later find the work done. One that was interrupted is run again.`;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  readFlags(HELP, {});
  // Past a pooler: a migration needs a session of its own.
  const url = process.env.MILLRACE_DATABASE_DIRECT_URL || process.env.DATABASE_URL;
  if (!url) throw new Failure('DATABASE_URL is not set: name the PostgreSQL database to migrate.');
  await migrate(scope, url);
  say('The database is at the schema of this version.');
}

await runCommand(main);
