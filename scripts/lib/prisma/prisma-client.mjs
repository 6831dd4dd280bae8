import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, systemSentenceIn } from './failure.mjs';
import { digestOf, readJson, writeJson } from './files.mjs';
import { MODULES, ROOT } from './paths.mjs';
import { runPrisma } from './prisma.mjs';
import { task } from './terminal.mjs';

const SCHEMA = join(ROOT, 'prisma', 'schema.prisma');
/** Inside node_modules, like the client itself: a fresh installation has neither. */
const STAMP = join(MODULES, '.millrace-client.json');
const CLIENT = join(MODULES, '.prisma', 'client', 'index.js');

/**
 * Make the database client that schema.prisma describes.
 *
 * @param {import('./scope.mjs').Scope} scope
 */
export async function generateClient(scope) {
  const version = readFileSync(join(MODULES, 'prisma', 'package.json'));
  const digest = digestOf(readFileSync(SCHEMA), version);
  const stamp = /** @type {{ digest?: string } | undefined} */ (readJson(STAMP));
  if (stamp?.digest === digest && existsSync(CLIENT)) return;
  await task(scope, 'Generating the database client', async () => {
    const { code, output } = await runPrisma(scope, ['generate']);
    if (code === 0) return;
    const lines = output.split('\n').filter((line) => line.trim() !== '' && !/^(Loaded|Prisma schema)/.test(line));
    throw new Failure(
      systemSentenceIn(output) ?? `prisma/schema.prisma gives no client: ${lines.slice(0, 3).join(' ')}`,
    );
  });
  writeJson(STAMP, { digest });
}
