import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { Failure, task } from '../command/index.mjs';
import { answers } from '../services/index.mjs';
import { freePort, makeFolder, withDeathSignal } from '../system/index.mjs';
import { s3Program } from './s3-program.mjs';

/** @typedef {{ endpoint: string, accessKeyId: string, secretAccessKey: string }} S3Server */

/**
 * The S3 server that tests run against: the one that S3_TEST_ENDPOINT names, else one on a free port over an empty folder.
 *
 * @param {import('../services/fleet.mjs').Fleet} fleet
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<S3Server>}
 */
export async function startTestS3(fleet, env) {
  if (env.S3_TEST_ENDPOINT) return givenServer(env.S3_TEST_ENDPOINT, env);
  const program = await s3Program(fleet.scope);
  return task(fleet.scope, 'Starting the S3 server', () => startServer(fleet, program));
}

/**
 * @param {string} endpoint
 * @param {NodeJS.ProcessEnv} env
 * @returns {S3Server}
 */
function givenServer(endpoint, { S3_TEST_ACCESS_KEY_ID: accessKeyId, S3_TEST_SECRET_ACCESS_KEY: secretAccessKey }) {
  if (!URL.canParse(endpoint)) throw new Failure('S3_TEST_ENDPOINT is no URL: correct it, or unset it.');
  if (!accessKeyId || !secretAccessKey) {
    throw new Failure('S3_TEST_ENDPOINT needs S3_TEST_ACCESS_KEY_ID and S3_TEST_SECRET_ACCESS_KEY beside it.');
  }
  return { endpoint, accessKeyId, secretAccessKey };
}

/**
 * @param {import('../services/fleet.mjs').Fleet} fleet
 * @param {string} program
 * @returns {Promise<S3Server>}
 */
async function startServer(fleet, program) {
  const port = await freePort();
  const server = {
    endpoint: `http://127.0.0.1:${port}`,
    accessKeyId: randomBytes(10).toString('hex'),
    secretAccessKey: randomBytes(20).toString('hex'),
  };
  const data = fleet.folder.at('s3', 'data');
  const sidecar = fleet.folder.at('s3', 'meta');
  makeFolder(data);
  makeFolder(sidecar);
  const options = ['--port', `127.0.0.1:${port}`, '--quiet', '--keep-alive', '--health', '/health'];
  await fleet.start([
    {
      role: 's3',
      name: 'The S3 server',
      // Attributes lie in a folder of their own, because not every file system stores them with the file.
      commandLine: withDeathSignal('SIGTERM', [program, ...options, 'posix', '--sidecar', sidecar, data]),
      options: {
        env: {
          ...process.env,
          ROOT_ACCESS_KEY_ID: server.accessKeyId,
          ROOT_SECRET_ACCESS_KEY: server.secretAccessKey,
        },
      },
      logFile: fleet.folder.log('s3'),
      isReady: () => answers(`${server.endpoint}/health`),
      stopSteps: [
        { signal: 'SIGTERM', waitMs: 5_000 },
        { signal: 'SIGKILL', waitMs: 5_000 },
      ],
    },
  ]);
  return server;
}
