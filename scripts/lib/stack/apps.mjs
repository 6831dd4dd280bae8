import { join } from 'node:path';
import process from 'node:process';
import { isHealthy, readiness } from '../services/index.mjs';
import { BUNDLES, makeFolder } from '../system/index.mjs';

/** @typedef {import('../services/data-folder.mjs').DataFolder} DataFolder */
/** @typedef {Record<string, string | undefined>} Environment */

/** A job that still runs this long after the stack is asked to stop is handed back. The next start runs it again. */
const DRAIN_SECONDS = '3';
const STOP_SECONDS = '10';
/** Deployments that the account of a stack may make. */
const DEPLOYMENTS = '10';
/** As the images have it: freed memory goes back to the system. */
const MEMORY_GOES_BACK = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };
/** What a process may take beyond its own limit before it is killed. */
const STOP_MARGIN_MS = 3_000;

/**
 * The settings that all processes of a stack share.
 *
 * @param {{
 *   env: Environment,
 *   folder: DataFolder,
 *   secrets: import('../servers/secrets.mjs').Secrets,
 *   servers: { databaseUrl: string, redisUrl: string },
 *   surface: string,
 * }} parts
 * @returns {Environment}
 */
export function baseEnvironment({ env, folder, secrets, servers, surface }) {
  const inherited = Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_|^INIT_CWD$/.test(name)));
  const s3 = Boolean(env.S3_ENDPOINT || env.S3_BUCKET);
  if (!s3) makeFolder(folder.at('blobs'));
  return {
    ...MEMORY_GOES_BACK,
    MILLRACE_DEPLOYMENT_LIMIT_PER_ACCOUNT: DEPLOYMENTS,
    MILLRACE_DRAIN_SECONDS: DRAIN_SECONDS,
    MILLRACE_STOP_SECONDS: STOP_SECONDS,
    MILLRACE_ADMIN_TOKEN: secrets.adminToken,
    MILLRACE_SECRET_KEY: secrets.secretKey,
    ...(s3 ? {} : { MILLRACE_BLOB_DIR: folder.at('blobs') }),
    ...(env.MILLRACE_MAIL_SMTP_URL ? {} : { MILLRACE_MAIL_FOLDER: folder.at('mail') }),
    ...inherited,
    MILLRACE_SURFACE: surface,
    DATABASE_URL: servers.databaseUrl,
    REDIS_URL: servers.redisUrl,
  };
}

/**
 * One process of ours. It ends by itself when this process is gone.
 *
 * @param {DataFolder} folder
 * @param {'api' | 'worker' | 'maintenance' | 'fleet' | 'gateway'} app
 * @param {string} name
 * @param {number} opsPort
 * @param {Environment} environment
 * @returns {import('../services/service.mjs').ServiceSpec}
 */
export function appSpec(folder, app, name, opsPort, environment) {
  const stopMs = Number(environment.MILLRACE_STOP_SECONDS) * 1_000 + STOP_MARGIN_MS;
  return {
    role: app,
    name,
    commandLine: [process.execPath, join(BUNDLES, `${app}.js`)],
    options: { env: { ...environment, MILLRACE_OPS_PORT: String(opsPort) } },
    ipc: true,
    logFile: folder.log(name),
    isReady: (pid) => isHealthy(opsPort, pid),
    readiness: () => readiness(opsPort),
    stopSteps: [
      { signal: 'SIGTERM', waitMs: Number.isFinite(stopMs) ? stopMs : STOP_MARGIN_MS },
      { signal: 'SIGKILL', waitMs: STOP_MARGIN_MS },
    ],
  };
}
