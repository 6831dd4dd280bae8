import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, readFlags, runCommand, say } from './lib/command/index.mjs';
import { startPostgres } from './lib/postgres/index.mjs';
import { describeStructure, migrate, migrationFaults, onDatabase, schemaDifference } from './lib/prisma/index.mjs';
import { Fleet, temporaryFolder } from './lib/services/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { ROOT, writeWhole } from './lib/system/index.mjs';

const FILE = join(ROOT, 'prisma', 'structure.sql');
const MIGRATIONS = join(ROOT, 'prisma', 'migrations');
const HELP = `Compares what the migrations make of an empty database with prisma/structure.sql and prisma/schema.prisma, and looks how new
migrations change large tables.

  --write   write prisma/structure.sql instead of comparing with it`;

/** @typedef {import('./lib/command/scope.mjs').Scope} Scope */

/** @param {Scope} scope */
async function main(scope) {
  const flags = readFlags(HELP, { write: { type: 'boolean' } });
  assertRules();
  await setUp(scope);
  const folder = await temporaryFolder(scope, 'structure');
  const { url } = await startPostgres(new Fleet(scope, folder), { password: 'throwaway', throwaway: true });
  await migrate(scope, url('structure'));
  const structure = await onDatabase(url('structure'), describeStructure);
  if (flags.write) writeWhole(FILE, structure);
  else assertSame(structure);
  await assertSchemaAgrees(url('structure'));
  say(flags.write ? 'prisma/structure.sql is written.' : 'The migrations, structure.sql and schema.prisma agree.');
}

/** A migration that reads or writes all of a large table while it is locked stops the service. */
function assertRules() {
  const names = readdirSync(MIGRATIONS, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
  const scripts = names.sort().map((name) => readFileSync(join(MIGRATIONS, name, 'migration.sql'), 'utf8'));
  const faults = names.flatMap((name, index) => migrationFaults(name, scripts[index] ?? '', scripts.slice(0, index)));
  if (faults.length > 0) throw new Failure(faults.join('\n'));
}

/** @param {string} structure */
function assertSame(structure) {
  const wanted = structure.split('\n');
  const found = readFileSync(FILE, 'utf8').split('\n');
  const at = wanted.findIndex((line, index) => line !== found[index]);
  if (at < 0 && wanted.length === found.length) return;
  const line = at < 0 ? wanted.length : at;
  throw new Failure(
    `prisma/structure.sql, line ${line + 1}, says «${(found[line] ?? '').trim()}» where the migrations give ` +
      `«${(wanted[line] ?? '').trim()}»: run node scripts/structure.mjs --write.`,
  );
}

/** @param {string} url */
async function assertSchemaAgrees(url) {
  const difference = await schemaDifference(url);
  if (difference === undefined) return;
  const changes = difference.split('\n').filter((line) => /^\s*\[[*+-]\]/.test(line));
  const list = changes.map((line) => `  ${line}`).join('\n');
  throw new Failure(`prisma/schema.prisma does not say what the migrations make; to get from them to it:\n${list}`);
}

await runCommand(main);
