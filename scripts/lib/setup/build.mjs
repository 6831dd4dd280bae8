import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { Failure, task } from '../command/index.mjs';
import {
  DIST,
  MODULES,
  ROOT,
  digestOf,
  filesUnder,
  makeFolder,
  parseJson,
  readJson,
  writeJson,
} from '../system/index.mjs';
import { bundle } from './bundles.mjs';
import { buildConsoles } from './console.mjs';

/**
 * What dist was made from: a digest of the compiler and its settings, and each source with its last change.
 *
 * @typedef {{ settings: string, sources: Record<string, string> }} Manifest
 */

const MANIFEST = join(DIST, '.build.json');
const GROUPS = ['libs', 'apps'];
/** Built by Vite (console.mjs). */
const FOR_BROWSERS = join('apps', 'console');
const IS_NOT_BUILT = /\.(spec|int-spec|e2e-spec|timing-spec)\.ts$|\/README\.md$/;
const PARALLEL = 16;

/**
 * Compile libs/ and apps/ into dist/, as far as they changed: one file each, `libs/x/src/y.ts` to `dist/libs/x/src/y.js`.
 * Sources that are no TypeScript are copied. What has no source any more is removed. Then bundle what the processes run, and
 * build the consoles for browsers.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 */
export async function build(scope) {
  const settings = settingsDigest();
  const sources = currentSources();
  const before = /** @type {Manifest | undefined} */ (readJson(MANIFEST));
  const known = before?.settings === settings ? before.sources : {};
  const changed = Object.keys(sources).filter(
    (source) => known[source] !== sources[source] || !existsSync(outputOf(source)),
  );
  const stale = staleOutputs(new Set(Object.keys(sources).flatMap(outputsOf)));
  const removed = Object.keys(known).filter((source) => !(source in sources));
  for (const output of stale) rmSync(output);
  if (changed.length > 0) {
    rmSync(MANIFEST, { force: true });
    await task(scope, 'Building', () => compileAll(scope, changed));
  }
  if (changed.length > 0 || removed.length > 0) writeJson(MANIFEST, { settings, sources });
  await bundle(scope, sources, settings);
  await buildConsoles(scope);
}

/** Load what builds, for a command that is about to build again and again: the first time takes no longer than the next. */
export async function prepareToBuild() {
  await Promise.all([import('@swc/core'), import('rolldown')]);
}

function settingsDigest() {
  const compiler = readFileSync(join(MODULES, '@swc', 'core', 'package.json'));
  return digestOf(readFileSync(join(ROOT, '.swcrc')), compiler);
}

/** @returns {Record<string, string>} each source, relative to the checkout, with its size and last change */
function currentSources() {
  const files = packagesOf().flatMap((folder) => filesUnder(join(ROOT, folder, 'src')));
  return Object.fromEntries(
    files
      .filter((file) => !IS_NOT_BUILT.test(file))
      .map((file) => {
        const { mtimeMs, size } = statSync(file);
        return [relative(ROOT, file), `${mtimeMs}:${size}`];
      }),
  );
}

function packagesOf() {
  return GROUPS.filter((group) => existsSync(join(ROOT, group)))
    .flatMap((group) => readdirSync(join(ROOT, group)).map((name) => join(group, name)))
    .filter((folder) => folder !== FOR_BROWSERS);
}

/** @param {string} source */
function outputOf(source) {
  return join(DIST, source.replace(/(?<!\.d)\.tsx?$/, '.js'));
}

/** @param {string} source */
function outputsOf(source) {
  const output = outputOf(source);
  return isCompiled(source) ? [output, `${output}.map`] : [output];
}

/** @param {string} source */
function isCompiled(source) {
  return /(?<!\.d)\.tsx?$/.test(source);
}

/** @param {Set<string>} outputs */
function staleOutputs(outputs) {
  return GROUPS.flatMap((group) => filesUnder(join(DIST, group))).filter((file) => !outputs.has(file));
}

/**
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {string[]} sources
 */
async function compileAll(scope, sources) {
  const { transformFile } = await import('@swc/core');
  const options = compilerOptions();
  const waiting = [...sources];
  const compileSome = async () => {
    for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
      scope.check();
      await compileOne(transformFile, options, source);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, compileSome));
}

/** @returns {import('@swc/core').Options} */
function compilerOptions() {
  const swcrc = /** @type {import('@swc/core').Options} */ (parseJson(readFileSync(join(ROOT, '.swcrc'), 'utf8')));
  return { ...swcrc, jsc: { ...swcrc.jsc, baseUrl: ROOT } };
}

/**
 * @param {typeof import('@swc/core').transformFile} transformFile
 * @param {import('@swc/core').Options} options
 * @param {string} source
 */
async function compileOne(transformFile, options, source) {
  const output = outputOf(source);
  const path = join(ROOT, source);
  makeFolder(dirname(output));
  if (!isCompiled(source)) return writeFileSync(output, readFileSync(path));
  const sourceFileName = relative(dirname(output), path);
  const { code, map } = await transformFile(path, { ...options, swcrc: false, cwd: ROOT, sourceFileName }).catch(
    (/** @type {Error} */ { message }) => {
      throw new Failure(`${source} does not compile: ${firstComplaint(message)}`);
    },
  );
  writeFileSync(`${output}.map`, map ?? '');
  writeFileSync(output, `${code}//# sourceMappingURL=${basename(output)}.map\n`);
}

/** @param {string} message swc's drawing of a syntax error */
function firstComplaint(message) {
  const line = message.split('\n').find((text) => /[×x] /.test(text)) ?? message.split('\n')[0] ?? '';
  return line.replace(/^\s*[×x] /, '').trim();
}
