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
  const ports = readPorts(fleet.folder);
  let databaseUrl = env.DATABASE_URL;
  if (!databaseUrl) {
    const password = secrets.postgresPassword;
    const seed = existsSync(dataIn(fleet.folder)) ? undefined : await seedFolder(fleet.scope);
    const options = { password, preferredPort: ports.postgres, throwaway, seed };
    const { url, port } = await task(fleet.scope, 'Starting PostgreSQL', () => startPostgres(fleet, options));
    notePorts(fleet.folder, { postgres: port });
    databaseUrl = url(DATABASE);
  }
  if (env.REDIS_URL) {
    await assertRedis(env.REDIS_URL);
    return { databaseUrl, redisUrl: env.REDIS_URL };
  }
  const program = await redisProgram(fleet.scope);
  const options = { program, password: secrets.redisPassword, preferredPort: ports.redis };
  const { url, port } = await task(fleet.scope, 'Starting Redis', () => startRedis(fleet, options));
  notePorts(fleet.folder, { redis: port });
  return { databaseUrl, redisUrl: url };
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
