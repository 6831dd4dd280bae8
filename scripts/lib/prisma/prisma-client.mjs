import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure, systemSentenceIn, task } from '../command/index.mjs';
import { MODULES, ROOT, digestOf, readJson, runTool, writeJson } from '../system/index.mjs';

const SCHEMA = join(ROOT, 'prisma', 'schema.prisma');
/** Inside node_modules, like the client itself: a fresh installation has neither. */
const STAMP = join(MODULES, '.millrace-client.json');
const CLIENT = join(MODULES, '.prisma', 'client', 'index.js');
const CLI = join(MODULES, 'prisma', 'build', 'index.js');

const ENVIRONMENT = {
  ...process.env,
  // It runs no schema engine, and downloads one unless a program is named.
  PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
  PRISMA_HIDE_UPDATE_MESSAGE: '1',
  CHECKPOINT_DISABLE: '1',
  NO_COLOR: '1',
  FORCE_COLOR: '0',
};

/**
 * Make the database client that schema.prisma describes.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 */
export async function generateClient(scope) {
  const version = readFileSync(join(MODULES, 'prisma', 'package.json'));
  const digest = digestOf(readFileSync(SCHEMA), version);
  const stamp = /** @type {{ digest?: string } | undefined} */ (readJson(STAMP));
  if (stamp?.digest === digest && existsSync(CLIENT)) return;
  await task(scope, 'Generating the database client', async () => {
    const { code, output } = await runTool(scope, process.execPath, [CLI, 'generate'], { cwd: ROOT, env: ENVIRONMENT });
    if (code === 0) return;
    const lines = output.split('\n').filter((line) => line.trim() !== '' && !/^(Loaded|Prisma schema)/.test(line));
    throw new Failure(
      systemSentenceIn(output) ?? `prisma/schema.prisma gives no client: ${lines.slice(0, 3).join(' ')}`,
    );
  });
  writeJson(STAMP, { digest });
}
