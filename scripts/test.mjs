import { randomInt } from 'node:crypto';
import { join, relative } from 'node:path';
import process from 'node:process';
import { runCommand, say, task } from './lib/command/index.mjs';
import { migrate, onDatabase } from './lib/prisma/index.mjs';
import { readSecrets, startServers, startTestS3 } from './lib/servers/index.mjs';
import { Fleet, temporaryFolder } from './lib/services/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { MODULES, ROOT, readJson, runTool } from './lib/system/index.mjs';
import { concludeTests, filesToTryAgain, helmProgram, withSecondTry } from './lib/testing/index.mjs';

/**
 * @typedef {import('./lib/testing/test-count.mjs').TestReport} TestReport
 * @typedef {import('./lib/testing/test-count.mjs').JestRun} JestRun
 */

const JEST = join(MODULES, 'jest', 'bin', 'jest.js');
const LIBRARY = join(ROOT, 'scripts', 'lib', 'testing');
/**
 * Flags of each run of jest. What bounds a time runs after all else, one file at a time: a neighbour's work is not measured.
 * It is measured again when it fails, as the rest of the machine is not idle for its sake.
 */
const RUNS = {
  tests: ['--testMatch=**/*.spec.ts', '--testMatch=**/*.int-spec.ts', '--testMatch=**/*.e2e-spec.ts'],
  timings: [
    '--testMatch=**/*.timing-spec.ts',
    '--maxWorkers=1',
    `--setupFilesAfterEnv=${join(LIBRARY, 'measure-again.js')}`,
  ],
};
const REPORTER = join(LIBRARY, 'test-report.js');
const LEAKS = join(LIBRARY, 'leak-reporter.js');

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  await setUp(scope, process.env);
  const folder = await temporaryFolder(scope, 'test');
  const secrets = readSecrets(folder.at('secrets.json'));
  const fleet = new Fleet(scope, folder);
  const { databaseUrl, redisUrl } = await startServers(fleet, process.env, { secrets, throwaway: true });
  const s3 = await startTestS3(fleet, process.env);
  const helm = await helmProgram(scope);
  const template = await makeTemplate(scope, databaseUrl);
  const services = {
    MILLRACE_TEST_DATABASE_URL: template,
    MILLRACE_TEST_REDIS_URL: redisUrl,
    MILLRACE_TEST_S3_ENDPOINT: s3.endpoint,
    MILLRACE_TEST_S3_ACCESS_KEY_ID: s3.accessKeyId,
    MILLRACE_TEST_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    MILLRACE_TEST_HELM: helm,
    // One for all runs: a second try makes the choices of the first.
    MILLRACE_TEST_SEED: process.env.MILLRACE_TEST_SEED || String(randomInt(1, 2_147_483_647)),
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
  /** @type {(name: string, flags: string[]) => Promise<JestRun>} */
  const run = (name, flags) => runJest(scope, flags, folder.at(`${name}.json`), services);
  const first = await run('tests', RUNS.tests);
  // Files that somebody chose are not tried again: who looks for a failure wants to see it.
  const files = process.argv.length > 2 ? [] : filesToTryAgain(first);
  const nameOf = (/** @type {string} */ file) => relative(ROOT, file);
  if (files.length > 0) say(`\nRunning again, alone: ${files.map(nameOf).join(', ')}`);
  const alone = [...RUNS.tests, '--maxWorkers=1', '--runTestsByPath', ...files];
  const tests = files.length > 0 ? withSecondTry(first, await run('alone', alone)) : { run: first, unsteady: [] };
  const { line, succeeded } = concludeTests([tests.run, await run('timings', RUNS.timings)]);
  for (const file of tests.unsteady) say(`Unsteady: ${nameOf(file)} failed, and passed alone. Mend it.`);
  say(line);
  return succeeded ? 0 : 1;
}

/**
 * @param {import('./lib/command/scope.mjs').Scope} scope
 * @param {string[]} flags of one run of jest, which runs what the command line names of its files
 * @param {string} report the file for its counts
 * @param {Record<string, string>} services where its services are
 * @returns {Promise<import('./lib/testing/test-count.mjs').JestRun>}
 */
async function runJest(scope, flags, report, services) {
  const reporters = ['default', REPORTER, LEAKS].map((reporter) => `--reporters=${reporter}`);
  const fixed = ['--ci', '--passWithNoTests', ...reporters];
  const { code } = await runTool(scope, process.execPath, [JEST, ...process.argv.slice(2), ...flags, ...fixed], {
    cwd: ROOT,
    env: { ...process.env, ...services, MILLRACE_TEST_REPORT: report },
    show: true,
  });
  return { report: /** @type {TestReport | undefined} */ (readJson(report)), code };
}

/**
 * A migrated database under a name of its own, which each test file copies; on a server that was given, nothing of what is
 * there is touched, and nothing stays.
 *
 * @param {import('./lib/command/scope.mjs').Scope} scope
 * @param {string} server
 * @returns {Promise<string>} its URL
 */
async function makeTemplate(scope, server) {
  const name = `millrace_template_${process.pid}`;
  const template = new URL(server);
  template.pathname = `/${name}`;
  if (process.env.DATABASE_URL) {
    scope.defer(() =>
      onDatabase(server, async (client) => void (await client.query(`DROP DATABASE IF EXISTS ${name}`))),
    );
  }
  await task(scope, 'Migrating the template database', () => migrate(scope, template.href));
  return template.href;
}

await runCommand(main);
