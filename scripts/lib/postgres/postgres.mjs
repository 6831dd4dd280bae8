import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../system/index.mjs';
import { postgresPrograms } from './embedded-binaries.mjs';
import {
  POSTGRES_STOP,
  POSTGRES_USER,
  assertVersion,
  endLeftover,
  giveTo,
  isServing,
  makeData,
  postgresEnvironment,
} from './postgres-data.mjs';
import { chooseLauncher } from './postgres-launcher.mjs';

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  logging_collector: 'off',
};
/** For data that nobody needs after a crash. */
const THROWAWAY_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/**
 * `throwaway` trades safety against a crash for speed; `seed` is data to begin with; `settings` are more of the server's own.
 *
 * @typedef {{
 *   password: string,
 *   preferredPort?: number,
 *   throwaway?: boolean,
 *   seed?: string,
 *   settings?: Record<string, string>,
 * }} PostgresOptions
 */

/**
 * Where the data of a stack's PostgreSQL lies.
 *
 * @param {import('../services/data-folder.mjs').DataFolder} folder
 */
export function dataIn(folder) {
  return folder.at('postgres');
}

/**
 * Start an embedded PostgreSQL over the fleet's folder, where its data is made when it is not there.
 *
 * @param {import('../services/fleet.mjs').Fleet} fleet
 * @param {PostgresOptions} options
 * @returns {Promise<{ port: number, url: (database: string) => string }>}
 */
export async function startPostgres(fleet, { password, preferredPort, throwaway = false, seed, settings: more }) {
  const { scope, folder } = fleet;
  const dir = dataIn(folder);
  const programs = postgresPrograms();
  const launcher = await chooseLauncher(scope, programs, folder.path);
  await endLeftover(dir);
  if (!existsSync(dir)) await makeData(scope, { programs, launcher, dir, password, throwaway, seed });
  assertVersion(programs, dir);
  await giveTo(scope, launcher, dir);
  const port = await freePort(preferredPort);
  const settings = Object.entries({
    ...SETTINGS,
    ...(throwaway ? THROWAWAY_SETTINGS : {}),
    ...more,
    port: String(port),
  });
  const flags = settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  await fleet.start([
    {
      role: 'postgres',
      name: 'PostgreSQL',
      commandLine: [...launcher.prefix('SIGINT'), join(programs, 'postgres'), '-D', dir, ...flags],
      options: { ...launcher.options, env: postgresEnvironment() },
      logFile: folder.log('postgres'),
      isReady: async (pid) => isServing(dir, pid),
      stopSteps: POSTGRES_STOP,
    },
  ]);
  const url = (/** @type {string} */ database) =>
    `postgresql://${POSTGRES_USER}:${password}@127.0.0.1:${port}/${database}`;
  return { port, url };
}
