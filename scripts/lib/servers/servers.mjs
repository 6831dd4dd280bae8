import { existsSync } from 'node:fs';
import { Failure, task } from '../command/index.mjs';
import { DATABASE, dataIn, seedFolder, startPostgres } from '../postgres/index.mjs';
import { readJson, writeJson } from '../system/index.mjs';
import { redisProgram } from './redis-program.mjs';
import { assertRedis, startRedis } from './redis.mjs';

/** @typedef {import('../services/fleet.mjs').Fleet} Fleet */
/** @typedef {import('../services/data-folder.mjs').DataFolder} DataFolder */
/** @typedef {{ postgres?: number, redis?: number, public?: number, ops?: number }} Ports */

/**
 * The servers that a stack stands on: those that the environment names, embedded ones for the others.
 *
 * @param {Fleet} fleet
 * @param {NodeJS.ProcessEnv} env
 * @param {{ secrets: import('./secrets.mjs').Secrets, throwaway?: boolean }} options
 * @returns {Promise<{ databaseUrl: string, redisUrl: string }>}
 */
export async function startServers(fleet, env, { secrets, throwaway }) {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = env;
  if (redisUrl) await assertRedis(redisUrl);
  const missing = [...(databaseUrl ? [] : ['PostgreSQL']), ...(redisUrl ? [] : ['Redis'])];
  if (databaseUrl && redisUrl) return { databaseUrl, redisUrl };
  // Made, where it is missing, in a task of its own, which prints its own line.
  const seed = databaseUrl || existsSync(dataIn(fleet.folder)) ? undefined : await seedFolder(fleet.scope);
  return task(fleet.scope, `Starting ${missing.join(' and ')}`, async () => {
    const [ownDatabaseUrl, ownRedisUrl] = await Promise.all([
      databaseUrl || startOwnPostgres(fleet, { password: secrets.postgresPassword, throwaway, seed }),
      redisUrl || startOwnRedis(fleet, { password: secrets.redisPassword, throwaway }),
    ]);
    return { databaseUrl: ownDatabaseUrl, redisUrl: ownRedisUrl };
  });
}

/**
 * @param {Fleet} fleet
 * @param {import('../postgres/postgres.mjs').PostgresOptions} options
 * @returns {Promise<string>} the URL of its database
 */
async function startOwnPostgres(fleet, options) {
  const preferredPort = readPorts(fleet.folder).postgres;
  const { url, port } = await startPostgres(fleet, { ...options, preferredPort });
  notePorts(fleet.folder, { postgres: port });
  return url(DATABASE);
}

/**
 * @param {Fleet} fleet
 * @param {{ password: string, throwaway?: boolean }} options
 * @returns {Promise<string>} its URL
 */
async function startOwnRedis(fleet, options) {
  const program = await redisProgram(fleet.scope);
  const preferredPort = readPorts(fleet.folder).redis;
  const { url, port } = await startRedis(fleet, { ...options, program, preferredPort });
  notePorts(fleet.folder, { redis: port });
  return url;
}

/**
 * Check what the environment says about servers, and have the program of those that are to be embedded.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {NodeJS.ProcessEnv} env
 */
export async function prepareServers(scope, env) {
  assertUrl('DATABASE_URL', env.DATABASE_URL, /^postgres(ql)?:$/);
  assertUrl('REDIS_URL', env.REDIS_URL, /^rediss?:$/);
  if (!env.REDIS_URL) await redisProgram(scope);
}

/**
 * @param {string} name
 * @param {string | undefined} url
 * @param {RegExp} protocol
 */
function assertUrl(name, url, protocol) {
  if (!url || (URL.canParse(url) && protocol.test(new URL(url).protocol))) return;
  throw new Failure(`${name} is no URL of such a server: correct it, or unset it to have an embedded one.`);
}

/**
 * The ports of the last time on this data: taken again where they are free, so that addresses survive a restart.
 *
 * @param {DataFolder} folder
 * @returns {Ports}
 */
export function readPorts(folder) {
  return /** @type {Ports} */ (readJson(folder.at('ports.json')) ?? {});
}

/**
 * @param {DataFolder} folder
 * @param {Ports} ports
 */
export function notePorts(folder, ports) {
  writeJson(folder.at('ports.json'), { ...readPorts(folder), ...ports });
}
