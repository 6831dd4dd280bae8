import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { hasPostgresPrograms } from '../postgres/index.mjs';
import { ownDatabase } from '../prisma/index.mjs';

/** Every setting of a process: those with the prefix, and those that are known by a name of their own. */
const SETTING = /^(DATABASE_URL|REDIS_URL|(S3|OTEL|MILLRACE)_\w+)$/;

/**
 * What a stack of its own starts from: nothing in it names a server, a bucket, a secret or a folder of something else.
 *
 * @param {NodeJS.ProcessEnv} env of the shell
 * @returns {NodeJS.ProcessEnv} without the settings of the service
 */
export function withoutSettings(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SETTING.test(name)));
}

/**
 * The settings of a stack of its own. On a machine for which there is no embedded PostgreSQL it has a database of its own on the
 * server that the shell names, which goes with it.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @returns {NodeJS.ProcessEnv}
 */
export function ownSettings(scope) {
  const own = withoutSettings(process.env);
  const { DATABASE_URL: server } = process.env;
  if (!server || hasPostgresPrograms()) return own;
  return { ...own, DATABASE_URL: ownDatabase(scope, server, `millrace_own_${randomBytes(6).toString('hex')}`) };
}
