import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { Failure, task } from '../command/index.mjs';
import {
  CONSOLE,
  DIST,
  MODULES,
  OPS_CONSOLE,
  ROOT,
  digestOf,
  filesUnder,
  readJson,
  runTool,
  writeJson,
} from '../system/index.mjs';

/** @typedef {{ made: string }} Manifest a digest of what a console was built from */

/**
 * A console: where its page and its settings for Vite are, where it is built, and what it is built from.
 *
 * @typedef {{ app: string, target: string, manifest: string, sources: () => string[] }} Console
 */

const APP = join(ROOT, 'apps', 'console');
const OPS_APP = join(APP, 'ops');
const IS_NOT_BUILT = /\.spec\.tsx?$|\/README\.md$/;
/** The docs in the console, with their pictures. */
const PAGES = join(ROOT, 'docs');
const IS_OF_A_PAGE = /\.(md|png|jpg|webp)$/;
/** @type {Console[]} */
const CONSOLES = [
  {
    app: APP,
    target: CONSOLE,
    manifest: join(DIST, '.console.json'),
    sources: () => [
      ...ownSources().filter((file) => !file.startsWith(OPS_APP + sep)),
      ...filesUnder(PAGES).filter((file) => IS_OF_A_PAGE.test(file)),
    ],
  },
  { app: OPS_APP, target: OPS_CONSOLE, manifest: join(DIST, '.ops-console.json'), sources: ownSources },
];
/** What shrinks; pictures and fonts are compressed already. */
const COMPRESSED = ['.css', '.html', '.js', '.json', '.svg', '.txt'];

/**
 * Build the consoles for browsers into dist, each if something changed that it is made from. Beside each file that shrinks lie its
 * forms for browsers that take brotli or gzip: `x.js.br`, `x.js.gz`.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @throws {Failure} with the first complaint of the compiler
 */
export async function buildConsoles(scope) {
  for (const each of CONSOLES) await buildConsole(scope, each);
}

/** Of both consoles: they share the design system and the types of the contract. */
function ownSources() {
  const files = [APP, join(ROOT, 'libs', 'contracts', 'src')].flatMap(filesUnder);
  return files.filter((file) => !IS_NOT_BUILT.test(file));
}

/**
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {Console} console
 */
async function buildConsole(scope, { app, target, manifest, sources }) {
  const made = digestOfSources(sources());
  if (madeOf(manifest) === made && existsSync(join(target, 'index.html'))) return;
  await task(scope, app === APP ? 'Building the console' : "Building the operators' console", async () => {
    const aside = `${target}.new`;
    await bundleApp(scope, app, aside);
    await Promise.all(filesUnder(aside).map(compress));
    rmSync(manifest, { force: true });
    rmSync(target, { recursive: true, force: true });
    renameSync(aside, target);
    writeJson(manifest, { made });
  });
}

/** What decides whether an api serves other consoles than before. */
export function consoleDigest() {
  return CONSOLES.map(({ manifest }) => madeOf(manifest) ?? '').join();
}

/** @param {string} manifest */
function madeOf(manifest) {
  return /** @type {Manifest | undefined} */ (readJson(manifest))?.made;
}

/** @param {string[]} files */
function digestOfSources(files) {
  const settings = ['package-lock.json', 'tsconfig.json', 'scripts/lib/setup/console.mjs'];
  const all = [...settings.map((name) => join(ROOT, name)), ...files.sort()];
  return digestOf(...all.flatMap((file) => [relative(ROOT, file), readFileSync(file)]));
}

/**
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {string} app
 * @param {string} target
 */
async function bundleApp(scope, app, target) {
  const vite = join(MODULES, 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--outDir', target, '--emptyOutDir', '--logLevel', 'error'];
  const env = { ...process.env, NODE_ENV: 'production', NO_COLOR: '1' };
  const { code, output } = await runTool(scope, process.execPath, args, { cwd: app, env });
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
