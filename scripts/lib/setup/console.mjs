import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { Failure, task } from '../command/index.mjs';
import { CONSOLE, DIST, MODULES, ROOT, digestOf, filesUnder, readJson, runTool, writeJson } from '../system/index.mjs';

/** @typedef {{ made: string }} Manifest a digest of what the console was built from */

const APP = join(ROOT, 'apps', 'console');
/** What is bundled into it. */
const SOURCES = [APP, join(ROOT, 'libs', 'contracts', 'src')];
const IS_NOT_BUILT = /\.spec\.tsx?$|\/README\.md$/;
/** Its docs, with their pictures. */
const PAGES = join(ROOT, 'docs');
const IS_OF_A_PAGE = /\.(md|png|jpg|webp)$/;
const MANIFEST = join(DIST, '.console.json');
/** What shrinks; pictures and fonts are compressed already. */
const COMPRESSED = ['.css', '.html', '.js', '.json', '.svg', '.txt'];

/**
 * Build the browser console into dist/console, if something changed that it is made from. Beside each file that shrinks lie
 * its forms for browsers that take brotli or gzip: `x.js.br`, `x.js.gz`.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @throws {Failure} with the first complaint of the compiler
 */
export async function buildConsole(scope) {
  const made = currentSources();
  const before = /** @type {Manifest | undefined} */ (readJson(MANIFEST));
  if (before?.made === made && existsSync(join(CONSOLE, 'index.html'))) return;
  await task(scope, 'Building the console', async () => {
    const aside = `${CONSOLE}.new`;
    await bundleApp(scope, aside);
    await Promise.all(filesUnder(aside).map(compress));
    rmSync(MANIFEST, { force: true });
    rmSync(CONSOLE, { recursive: true, force: true });
    renameSync(aside, CONSOLE);
    writeJson(MANIFEST, { made });
  });
}

/** What decides whether an api serves another console than before. */
export function consoleDigest() {
  return /** @type {Manifest | undefined} */ (readJson(MANIFEST))?.made ?? '';
}

function currentSources() {
  const sources = SOURCES.flatMap(filesUnder).filter((file) => !IS_NOT_BUILT.test(file));
  const files = [...sources, ...filesUnder(PAGES).filter((file) => IS_OF_A_PAGE.test(file))];
  const settings = ['package-lock.json', 'tsconfig.json', 'scripts/lib/setup/console.mjs'];
  const all = [...settings.map((name) => join(ROOT, name)), ...files.sort()];
  return digestOf(...all.flatMap((file) => [relative(ROOT, file), readFileSync(file)]));
}

/**
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {string} target
 */
async function bundleApp(scope, target) {
  const vite = join(MODULES, 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--outDir', target, '--emptyOutDir', '--logLevel', 'error'];
  const env = { ...process.env, NODE_ENV: 'production', NO_COLOR: '1' };
  const { code, output } = await runTool(scope, process.execPath, args, { cwd: APP, env });
  if (code !== 0) throw new Failure(`The console does not build: ${output.trim()}`);
}

/** @param {string} file */
async function compress(file) {
  if (!COMPRESSED.includes(extname(file))) return;
  const bytes = readFileSync(file);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
    promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  writeFileSync(`${file}.br`, br);
  writeFileSync(`${file}.gz`, gz);
}
