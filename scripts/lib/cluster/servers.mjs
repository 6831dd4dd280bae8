import { createServer, connect } from 'node:net';
import process from 'node:process';
import { Failure, task } from '../command/index.mjs';
import { readSecrets, startServers, startTestS3 } from '../servers/index.mjs';
import { ROOT, runTool } from '../system/index.mjs';
import { NODE_ADDRESS } from './places.mjs';

/** @typedef {import('../services/fleet.mjs').Fleet} Fleet */
/** @typedef {{ port: number, cut: () => void, mend: () => void }} Relay `cut`: connections end, and none is taken. */
/**
 * What a release is installed on. URLs are those that pods use.
 *
 * @typedef {{
 *   secrets: import('../servers/secrets.mjs').Secrets,
 *   databaseUrl: string,
 *   redisUrl: string,
 *   s3: import('../servers/s3.mjs').S3Server,
 *   relays: { postgres: Relay, redis: Relay, s3: Relay },
 * }} Servers
 */

export const BUCKET = 'millrace';

/**
 * PostgreSQL, Redis and an S3 server on loopback, and a relay from the bridge to each, since pods have another loopback.
 *
 * @param {Fleet} fleet
 * @returns {Promise<Servers>}
 */
export async function startReleaseServers(fleet) {
  const secrets = readSecrets(fleet.folder.at('secrets.json'));
  const own = { ...process.env, DATABASE_URL: '', REDIS_URL: '', S3_TEST_ENDPOINT: '' };
  const { databaseUrl, redisUrl } = await startServers(fleet, own, { secrets, throwaway: true });
  const s3 = await startTestS3(fleet, own);
  return task(fleet.scope, 'Opening them to pods, and making the bucket', async () => {
    const relays = {
      postgres: await relay(fleet, portOf(databaseUrl)),
      redis: await relay(fleet, portOf(redisUrl)),
      s3: await relay(fleet, portOf(s3.endpoint)),
    };
    await makeBucket(fleet, s3);
    return {
      secrets,
      databaseUrl: outer(databaseUrl),
      redisUrl: outer(redisUrl),
      s3: { ...s3, endpoint: outer(s3.endpoint) },
      relays,
    };
  });
}

/** @param {string} url */
function portOf(url) {
  return Number(new URL(url).port);
}

/** @param {string} url */
function outer(url) {
  return url.replace('127.0.0.1', NODE_ADDRESS);
}

/**
 * @param {Fleet} fleet
 * @param {number} port the same on both sides
 * @returns {Promise<Relay>}
 */
async function relay(fleet, port) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();
  let isCut = false;
  const server = createServer((inner) => {
    if (isCut) return inner.destroy();
    const far = connect(port, '127.0.0.1');
    for (const socket of [inner, far]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    }
    inner.on('close', () => far.destroy());
    far.on('close', () => inner.destroy());
    return void inner.pipe(far).pipe(inner);
  });
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise((resolve, reject) => {
    server.on('error', reject).listen(port, NODE_ADDRESS, () => resolve(undefined));
  });
  fleet.scope.defer(() => {
    server.close();
    end();
  });
  return {
    port,
    cut: () => {
      isCut = true;
      end();
    },
    mend: () => {
      isCut = false;
    },
  };
}

/**
 * @param {Fleet} fleet
 * @param {import('../servers/s3.mjs').S3Server} s3
 */
async function makeBucket({ scope }, { endpoint, accessKeyId, secretAccessKey }) {
  const env = {
    ...process.env,
    S3_BUCKET: BUCKET,
    S3_ENDPOINT: endpoint,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const { code, output } = await runTool(scope, process.execPath, ['scripts/make-bucket.mjs'], { cwd: ROOT, env });
  if (code !== 0) throw new Failure(`The bucket could not be made: ${output.trim()}`);
}
