import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure, readFlags, runCommand, say, task } from './lib/command/index.mjs';
import { migrate, onDatabase } from './lib/prisma/index.mjs';
import { readSecrets, startServers, startTestS3 } from './lib/servers/index.mjs';
import { Fleet, temporaryFolder } from './lib/services/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { MODULES, ROOT, runTool } from './lib/system/index.mjs';
import { GUARDS, failedTests } from './lib/testing/index.mjs';

/** @typedef {import('./lib/testing/guards/guard.mjs').Guard} Guard */
/** @typedef {{ databaseUrl: string, redisUrl: string, s3: { endpoint: string, accessKeyId: string, secretAccessKey: string } }} Servers */

const JEST = join(MODULES, 'jest', 'bin', 'jest.js');
const HELP = `node scripts/mutate-guards.mjs [-- --only TEXT]    removes each guard in turn and shows that a test notices

  --only TEXT   guards whose name or file contains the text`;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const flags = readFlags(HELP, { only: { type: 'string' } });
  await setUp(scope, {});
  const folder = await temporaryFolder(scope, 'guards');
  const fleet = new Fleet(scope, folder);
  const { databaseUrl, redisUrl } = await startServers(
    fleet,
    {},
    { secrets: readSecrets(folder.at('secrets.json')), throwaway: true },
  );
  const servers = { databaseUrl, redisUrl, s3: await startTestS3(fleet, {}) };
  await task(scope, 'Migrating', () => migrate(scope, servers.databaseUrl));
  const chosen = GUARDS.filter(({ name, file = '' }) => `${name} ${file}`.includes(flags.only ?? ''));
  const tests = [...new Set(chosen.flatMap((guard) => guard.tests))];
  const [unsound] = await failuresWithout(scope, servers, { name: 'nothing', tests });
  if (unsound !== undefined) {
    throw new Failure(`${unsound} fails although nothing was removed: what it says of guards is worth nothing.`);
  }
  const missed = [];
  for (const guard of chosen) {
    const noticed = (await failuresWithout(scope, servers, guard)).length > 0;
    say(`  ${noticed ? 'noticed' : 'MISSED '}  ${guard.name}`);
    if (!noticed) missed.push(guard.name);
  }
  say(`\n${chosen.length} guards removed, ${missed.length} of them unnoticed.`);
  return missed.length === 0 ? 0 : 1;
}

/**
 * The guard's files of which a test fails without it.
 *
 * @param {import('./lib/command/scope.mjs').Scope} scope
 * @param {Servers} servers
 * @param {Guard} guard
 */
async function failuresWithout(scope, servers, guard) {
  const template = await copyOf(servers.databaseUrl, guard);
  const restore = guard.file === undefined ? () => undefined : mutate(guard);
  const release = scope.defer(restore);
  try {
    const { code, output } = await runTool(scope, process.execPath, [JEST, '--silent', '--bail', ...guard.tests], {
      cwd: ROOT,
      env: {
        ...process.env,
        MILLRACE_TEST_DATABASE_URL: template,
        MILLRACE_TEST_REDIS_URL: servers.redisUrl,
        MILLRACE_TEST_S3_ENDPOINT: servers.s3.endpoint,
        MILLRACE_TEST_S3_ACCESS_KEY_ID: servers.s3.accessKeyId,
        MILLRACE_TEST_S3_SECRET_ACCESS_KEY: servers.s3.secretAccessKey,
      },
    });
    const failures = failedTests({ code, output });
    if (failures !== null) return failures;
    throw new Failure(`Without «${guard.name}» jest fails and no test does, which shows nothing.\n${output}`);
  } finally {
    await release();
  }
}

/**
 * @param {Guard} guard
 * @returns {() => void} puts the source back
 */
function mutate({ name, file = '', find = '', replace = '' }) {
  const path = join(ROOT, file);
  const source = readFileSync(path, 'utf8');
  if (!source.includes(find)) throw new Failure(`The guard «${name}» is not in ${file} any more: correct the list.`);
  writeFileSync(path, source.replace(find, replace));
  return () => writeFileSync(path, source);
}

/**
 * A copy of the migrated database, without the guard where that is the database's.
 *
 * @param {string} url
 * @param {Guard} guard
 */
async function copyOf(url, { sql }) {
  const original = new URL(url).pathname.slice(1);
  const copy = new URL(url);
  copy.pathname = `/${original}_guard`;
  const server = new URL(url);
  server.pathname = '/postgres';
  await onDatabase(server.href, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${original}_guard WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${original}_guard TEMPLATE ${original}`);
  });
  if (sql !== undefined) await onDatabase(copy.href, (client) => client.query(sql));
  return copy.href;
}

await runCommand(main);
