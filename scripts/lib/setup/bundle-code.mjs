import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import Module, { builtinModules } from 'node:module';
import { join, relative } from 'node:path';
import process from 'node:process';
import { Failure } from '../command/index.mjs';
import { DIST, MODULES, ROOT, runTool, writeWhole } from '../system/index.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */

/** Packages that read files beside themselves, are native, or hide what they require: they are loaded from node_modules. */
const READS_OWN_FILES = ['@prisma/client', '.prisma', '@napi-rs/blake-hash', 'sharp', 'piscina', 'jsonc-parser'];
/**
 * What a process does before it loads anything. The first process of a container ignores signals that it does not listen for, and
 * loading takes a second on a busy machine. `runMain` listens after that, and ends the process in order.
 */
export const FIRST = `for (const [signal, code] of [['SIGTERM', 143], ['SIGINT', 130]]) {
  process.on(signal, () => process.listenerCount(signal) === 1 && process.exit(code));
}`;
/** Other packages load these where they are installed. They are not. */
const NOT_INSTALLED = [
  '@nestjs/microservices',
  '@nestjs/websockets',
  'bufferutil',
  'class-transformer',
  'class-validator',
  'pg-native',
  'utf-8-validate',
];
const OUTSIDE = [...READS_OWN_FILES, ...NOT_INSTALLED];
/** Beside a bundle, with the packages that it does not have itself. */
export const LOADER = 'packages.js';

const PACKAGES_LOADER = join(ROOT, 'scripts', 'lib', 'setup', 'packages-loader.js');
/** A module of this name stands for the package that the rest names. */
const PACKAGE = '\0package:';
/**
 * A script that V8 has compiled before cannot import: `import()` becomes `require`.
 *
 * @type {import('rolldown').OutputOptions}
 */
const ONE_FILE = { format: 'cjs', codeSplitting: false, keepNames: true, dynamicImportInCjs: false };
/** The sources themselves are in the checkout. A trace needs their names and lines. */
const WITH_MAP = { sourcemap: true, sourcemapExcludeSources: true };

/**
 * @param {string[]} files bundles
 * @returns {string[]} the packages that they load from node_modules
 */
export function loadedFromModules(files) {
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  return READS_OWN_FILES.filter((name) => texts.some((text) => text.includes(`require("${name}`)));
}

/**
 * @param {string} file
 * @returns {string} without its ending
 */
export function withoutEnding(file) {
  return file.replace(/\.[jt]sx?$/, '');
}

/**
 * @param {string} loader by a path from the bundle
 * @returns {string} how a bundle begins that has its packages from there
 */
export function sharing(loader) {
  return `const sharedPackages = require('${loader}');`;
}

/**
 * @param {string} entry in dist
 * @param {string} file
 * @param {string} [intro] of a bundle whose packages come from another file; without one they are in it
 * @returns {Promise<{ modules: Set<string>, packages: string[] }>} the modules in it, as `libs/x/src/y`, and the packages that
 *   it loads from the other file, by the names that the code gives them
 */
export async function bundleOwnCode(entry, file, intro) {
  const { rolldown } = await import('rolldown');
  const used = /** @type {Set<string>} */ (new Set());
  const plugins = [sourceMaps(), ...(intro === undefined ? [] : [packagesApart(used)])];
  const build = await rolldown({ input: join(DIST, entry), ...forNode(), plugins });
  const { output } = await build.write({ ...ONE_FILE, ...WITH_MAP, ...(intro !== undefined && { intro }), file });
  await build.close();
  writeWhole(file, inAscii(readFileSync(file, 'utf8')));
  const modules = new Set(output[0].moduleIds.map((id) => withoutEnding(relative(DIST, id))));
  return { modules, packages: [...used] };
}

/** @returns {import('rolldown').InputOptions} */
function forNode() {
  return { cwd: ROOT, platform: 'node', external: isOutside, logLevel: 'silent', treeshake: false };
}

/** @param {string} id */
function isOutside(id) {
  return isBuiltin(id) || OUTSIDE.some((name) => id === name || id.startsWith(`${name}/`));
}

/** @param {string} id */
function isBuiltin(id) {
  return id.startsWith('node:') || builtinModules.includes(id);
}

/**
 * The compiler's own maps, so that a stack trace names the source.
 *
 * @returns {import('rolldown').Plugin}
 */
function sourceMaps() {
  return {
    name: 'source-maps',
    load: {
      filter: { id: /[\\/]dist[\\/](apps|libs)[\\/].*\.js$/ },
      handler: (id) => ({ code: readFileSync(id, 'utf8'), map: readFileSync(`${id}.map`, 'utf8') }),
    },
  };
}

/**
 * Packages come from the file that all processes share: it changes with the lock file alone.
 *
 * @param {Set<string>} used
 * @returns {import('rolldown').Plugin}
 */
function packagesApart(used) {
  return {
    name: 'packages-apart',
    resolveId: {
      filter: { id: /^[^./\0]/ },
      handler: (id, importer) => {
        if (importer === undefined || isOutside(id)) return undefined;
        used.add(id);
        return PACKAGE + id;
      },
    },
    load: {
      filter: { id: /^\0package:/ },
      handler: (id) => `module.exports = sharedPackages[${JSON.stringify(id.slice(PACKAGE.length))}];`,
    },
  };
}

/**
 * @param {Scope} scope
 * @param {string[]} names
 * @param {string} folder of the bundles that load them
 */
export async function bundlePackages(scope, names, folder) {
  const { rolldown } = await import('rolldown');
  const entry = join(MODULES, 'packages-of-millrace.cjs');
  const getters = names.map((name) => JSON.stringify(name)).map((name) => `get ${name}() { return require(${name}); }`);
  const build = await rolldown({
    ...forNode(),
    input: entry,
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? `module.exports = {\n${getters.join(',\n')}\n};` : undefined),
      },
    ],
  });
  const { output: chunks } = await build.generate({ ...ONE_FILE, comments: false });
  await build.close();
  const loader = join(folder, LOADER);
  writeWhole(join(folder, 'packages.bundle.js'), Module.wrap(inAscii(chunks[0].code)));
  rmSync(join(folder, 'packages.compiled'), { force: true });
  copyFileSync(PACKAGES_LOADER, loader);
  const { code, output } = await runTool(scope, process.execPath, [loader], { cwd: ROOT });
  if (code !== 0) throw new Failure(`The packages were not compiled: ${output}`);
}

/**
 * The same program without a character that V8 would need two bytes for: it keeps a source as long as its process lives.
 *
 * @param {string} code
 */
function inAscii(code) {
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
