import { join } from 'node:path';
import { Failure } from '../command/index.mjs';
import { freePort, makeFolder, withDeathSignal, writeWhole } from '../system/index.mjs';

/** @type {import('../system/processes.mjs').StopStep[]} */
const REDIS_STOP = [
  { signal: 'SIGTERM', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
];

/** A database for each test file that may run within the minute in which requests are counted (libs/testing). */
const DATABASES_FOR_TESTS = 1_024;

/**
 * Start a Redis that keeps nothing on disk: all it holds may vanish at any time by design, and secrets pass through it.
 *
 * @param {import('../services/fleet.mjs').Fleet} fleet
 * @param {{ program: string, password: string, preferredPort?: number, throwaway?: boolean }} options `throwaway`: for tests
 * @returns {Promise<{ port: number, url: string }>}
 */
export async function startRedis(fleet, { program, password, preferredPort, throwaway = false }) {
  const port = await freePort(preferredPort);
  const url = `redis://:${password}@127.0.0.1:${port}/0`;
  const dir = fleet.folder.at('redis');
  makeFolder(dir, 0o700);
  const config = join(dir, 'redis.conf');
  writeWhole(config, configOf({ dir, port, password, throwaway }), 0o600);
  await fleet.start([
    {
      role: 'redis',
      name: 'Redis',
      commandLine: withDeathSignal('SIGTERM', [program, config]),
      logFile: fleet.folder.log('redis'),
      isReady: async (pid) => (await askRedis(url, ['INFO', 'server']))?.includes(`process_id:${pid}\r\n`) ?? false,
      stopSteps: REDIS_STOP,
    },
  ]);
  return { port, url };
}

/** @param {{ dir: string, port: number, password: string, throwaway: boolean }} options */
function configOf({ dir, port, password, throwaway }) {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir "${dir.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`,
    'daemonize no',
    ...(throwaway ? [`databases ${DATABASES_FOR_TESTS}`] : []),
    'maxmemory-policy noeviction',
    'save ""',
    'appendonly no',
    '',
  ].join('\n');
}

/**
 * One command to a Redis server.
 *
 * @param {string} url
 * @param {[string, ...string[]]} command
 * @returns {Promise<string | undefined>} undefined when it does not answer
 */
async function askRedis(url, [name, ...args]) {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    enableReadyCheck: false,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return String(await redis.call(name, ...args));
  } catch {
    return undefined;
  } finally {
    redis.disconnect();
  }
}

/**
 * Check a Redis that the environment names.
 *
 * @param {string} url
 * @throws {Failure} when it does not answer, or would evict keys
 */
export async function assertRedis(url) {
  const policy = /maxmemory_policy:(\S+)/.exec((await askRedis(url, ['INFO', 'memory'])) ?? '')?.[1];
  const { host } = new URL(url);
  if (policy === undefined)
    throw new Failure(`Redis at ${host} (REDIS_URL) does not answer: start it, or unset REDIS_URL.`);
  if (policy === 'noeviction') return;
  throw new Failure(`Redis at ${host} runs with maxmemory-policy ${policy}: set it to noeviction, or jobs get lost.`);
}
