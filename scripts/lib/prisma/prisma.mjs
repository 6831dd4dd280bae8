import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { MODULES, ROOT, isExecutable, runTool } from '../system/index.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */

const CLI = join(MODULES, 'prisma', 'build', 'index.js');
const SHIM = fileURLToPath(new URL('./schema-engine-shim.mjs', import.meta.url));

/**
 * The schema engine to use: one that the environment names, or one that lies beside Prisma, else our own over Prisma's
 * WebAssembly build. Nothing is ever downloaded for it.
 *
 * @returns {string}
 */
function schemaEngine() {
  const named = process.env.PRISMA_SCHEMA_ENGINE_BINARY;
  if (named && existsSync(named)) return named;
  const folder = join(MODULES, '@prisma', 'engines');
  const native = existsSync(folder)
    ? readdirSync(folder).find((name) => /^schema-engine-[\w.-]+$/.test(name))
    : undefined;
  if (native && isExecutable(join(folder, native))) return join(folder, native);
  if (!isExecutable(SHIM)) chmodSync(SHIM, 0o755);
  return SHIM;
}

/**
 * Run Prisma's command line.
 *
 * @param {Scope} scope
 * @param {string[]} args
 * @param {string} [databaseUrl]
 */
export function runPrisma(scope, args, databaseUrl) {
  return runTool(scope, process.execPath, [CLI, ...args], {
    cwd: ROOT,
    env: {
      ...process.env,
      // The engine of ours is a script that finds its Node on PATH.
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      PRISMA_SCHEMA_ENGINE_BINARY: schemaEngine(),
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
      NO_COLOR: '1',
      FORCE_COLOR: '0',
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl, MILLRACE_DATABASE_DIRECT_URL: '' }),
    },
  });
}
