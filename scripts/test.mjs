import { join } from 'node:path';
import process from 'node:process';
import { runCommand } from './lib/command.mjs';
import { temporaryFolder } from './lib/data-folder.mjs';
import { readJson } from './lib/files.mjs';
import { Fleet } from './lib/fleet.mjs';
import { helmProgram } from './lib/helm-program.mjs';
import { migrate, onDatabase } from './lib/migrate.mjs';
import { MODULES, ROOT } from './lib/paths.mjs';
import { readSecrets } from './lib/secrets.mjs';
import { startTestS3 } from './lib/s3.mjs';
import { startServers } from './lib/servers.mjs';
import { setUp } from './lib/setup.mjs';
import { say, task } from './lib/terminal.mjs';
import { concludeTests } from './lib/test-count.mjs';
import { runTool } from './lib/tools.mjs';

/** @typedef {import('./lib/test-count.mjs').TestReport} TestReport */

const JEST = join(MODULES, 'jest', 'bin', 'jest.js');
const REPORTER = join(ROOT, 'scripts', 'lib', 'test-report.js');

/** @param {import('./lib/scope.mjs').Scope} scope */
async function main(scope) {
  await setUp(scope, process.env);
  const folder = await temporaryFolder(scope, 'test');
  const secrets = readSecrets(folder.at('secrets.json'));
  const fleet = new Fleet(scope, folder);
  const { databaseUrl, redisUrl } = await startServers(fleet, process.env, { secrets, throwaway: true });
  const s3 = await startTestS3(fleet, process.env);
  const helm = await helmProgram(scope);
  const template = await makeTemplate(scope, databaseUrl);
  const report = folder.at('report.json');
  // What a failed file left open must not keep the command from its end.
  const args = [
    JEST,
    ...process.argv.slice(2),
    '--forceExit',
    '--ci',
    '--reporters=default',
    `--reporters=${REPORTER}`,
  ];
  const { code } = await runTool(scope, process.execPath, args, {
    cwd: ROOT,
    env: {
      ...process.env,
      MILLRACE_TEST_DATABASE_URL: template,
      MILLRACE_TEST_REDIS_URL: redisUrl,
      MILLRACE_TEST_S3_ENDPOINT: s3.endpoint,
      MILLRACE_TEST_S3_ACCESS_KEY_ID: s3.accessKeyId,
      MILLRACE_TEST_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      MILLRACE_TEST_HELM: helm,
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      MILLRACE_TEST_REPORT: report,
    },
    show: true,
  });
  const { line, succeeded } = concludeTests(/** @type {TestReport | undefined} */ (readJson(report)), code);
  say(line);
  return succeeded ? 0 : 1;
}

/**
 * A migrated database under a name of its own, which each test file copies; on a server that was given, nothing of what is
 * there is touched, and nothing stays.
 *
 * @param {import('./lib/scope.mjs').Scope} scope
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
