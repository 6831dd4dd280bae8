import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import Module, { builtinModules } from 'node:module';
import { basename, join, relative } from 'node:path';
import process from 'node:process';
import { Failure, task } from '../command/index.mjs';
import {
  BUNDLES,
  DIST,
  MODULES,
  ROOT,
  digestOf,
  makeFolder,
  readJson,
  runTool,
  writeJson,
  writeWhole,
} from '../system/index.mjs';
import { BESIDE, PROCESSES, RUNS, THREADS } from './bundle-entries.mjs';
import { consoleDigest } from './console.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/**
 * What a bundle was made from: the sources in it, and a digest of them and of all else. `program`: a digest of what came of it.
 * `packages`: those that it loads.
 *
 * @typedef {{ made: string, sources: string[], packages: string[], program: string }} Bundle
 */
/** @typedef {{ bundles?: Record<string, Bundle>, packages?: string }} Manifest the bundles by name, and a digest of the packages' */

const READS_OWN_FILES = ['@prisma/client', '.prisma', '@napi-rs/blake-hash', 'sharp', 'piscina'];
/**
 * What a process does before it loads anything. The first process of a container ignores signals that it does not listen for, and
 * loading takes a second on a busy machine. `runMain` listens after that, and ends the process in order.
 */
const FIRST = `for (const [signal, code] of [['SIGTERM', 143], ['SIGINT', 130]]) {
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

const MANIFEST = join(BUNDLES, '.bundles.json');
const PACKAGES = join(BUNDLES, 'packages.js');
const SETUP = join(ROOT, 'scripts', 'lib', 'setup');
const PACKAGES_LOADER = join(SETUP, 'packages-loader.js');
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
 * Make the files that the processes are started from, as far as something changed: a process of one file starts in half the
 * time of one that reads 1,500.
 *
 * @param {Scope} scope
 * @param {Record<string, string>} sources what dist was compiled from: each source, with what changes when it does
 * @param {string} compiler digest of what compiled it
 */
export async function bundle(scope, sources, compiler) {
  const settings = ['bundles.mjs', 'bundle-entries.mjs', 'packages-loader.js'].map((name) =>
    readFileSync(join(SETUP, name)),
  );
  const lock = readFileSync(join(ROOT, 'package-lock.json'));
  const before = readManifest();
  const entries = Object.entries({ ...PROCESSES, ...THREADS }).map(([name, entry]) => {
    const given = digestOf(
      compiler,
      lock,
      JSON.stringify(sourcesInReach(entry, sources)),
      ...beside(name),
      ...settings,
    );
    const madeOf = (/** @type {string[]} */ inside) =>
      digestOf(given, ...inside.map((source) => sources[source] ?? ''));
    const known = before.bundles?.[name];
    return { name, entry, madeOf, known: known?.made === madeOf(known?.sources ?? []) ? known : undefined };
  });
  if (entries.every(({ known }) => known !== undefined)) return;
  await task(scope, 'Bundling', async () => {
    makeFolder(BUNDLES);
    const made = entries.map(async ({ name, entry, madeOf, known }) => {
      if (known) return /** @type {const} */ ([name, known]);
      const { modules, packages } = await bundleOwnCode(name, entry);
      const inside = Object.keys(sources).filter((source) => modules.has(withoutEnding(source)));
      const program = digestOf(readFileSync(fileOf(name)), ...beside(name));
      return /** @type {const} */ ([name, { made: madeOf(inside), sources: inside, packages, program }]);
    });
    const bundles = Object.fromEntries(await Promise.all(made));
    for (const file of Object.values(BESIDE).flat()) copyFileSync(join(ROOT, file), join(BUNDLES, basename(file)));
    const used = [...new Set(Object.values(bundles).flatMap((each) => each.packages))].sort();
    const packages = digestOf(lock, JSON.stringify(used), process.version, ...settings);
    if (before.packages !== packages || !existsSync(PACKAGES)) {
      rmSync(MANIFEST, { force: true });
      await bundlePackages(scope, used);
    }
    writeJson(MANIFEST, { bundles, packages });
  });
}

/**
 * What the processes would run if they were started now. The api reads the console when it starts.
 *
 * @returns {Record<string, string>} for each process a digest of its files
 */
export function programs() {
  const { api = '', ...others } = programsOf(readManifest());
  return { ...others, api: digestOf(api, consoleDigest()) };
}

/** @param {Manifest} manifest */
export function programsOf({ bundles, packages = '' }) {
  const digest = (/** @type {string} */ name) => bundles?.[name]?.program ?? '';
  return Object.fromEntries(
    Object.keys(PROCESSES).map((process) => {
      const names = /** @type {Record<string, string[]>} */ (RUNS)[process] ?? [process];
      return [process, digestOf(packages, ...names.map(digest))];
    }),
  );
}

function readManifest() {
  return /** @type {Manifest} */ (readJson(MANIFEST) ?? {});
}

/** @param {string} name of a bundle */
function fileOf(name) {
  return join(BUNDLES, `${name}.js`);
}

/** @param {string} name of a bundle */
function beside(name) {
  return (BESIDE[name] ?? []).map((file) => readFileSync(join(ROOT, file)));
}

/**
 * The names of what a bundle can have of the sources: libs, and its own app. A new one may be found where another was before.
 *
 * @param {string} entry
 * @param {Record<string, string>} sources
 */
function sourcesInReach(entry, sources) {
  const app = entry.startsWith('apps/') ? entry.split('/', 2).join('/') + '/' : undefined;
  return Object.keys(sources).filter(
    (source) => !source.startsWith('apps/') || (app !== undefined && source.startsWith(app)),
  );
}

/** @param {string} file */
function withoutEnding(file) {
  return file.replace(/\.[jt]sx?$/, '');
}

/**
 * @param {string} name
 * @param {string} entry in dist
 * @returns {Promise<{ modules: Set<string>, packages: string[] }>} the modules in it, as `libs/x/src/y`, and the packages that
 *   a process loads from the file beside its own, by the names that the code gives them
 */
async function bundleOwnCode(name, entry) {
  const { rolldown } = await import('rolldown');
  const used = /** @type {Set<string>} */ (new Set());
  const [plugins, options] =
    name in PROCESSES
      ? [[packagesApart(used)], { intro: `${FIRST}\nconst sharedPackages = require('./packages.js');` }]
      : [[], {}];
  const build = await rolldown({ input: join(DIST, entry), ...forNode(), plugins: [sourceMaps(), ...plugins] });
  const { output } = await build.write({ ...ONE_FILE, ...WITH_MAP, ...options, file: fileOf(name) });
  await build.close();
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
 */
async function bundlePackages(scope, names) {
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
  writeWhole(join(BUNDLES, 'packages.bundle.js'), Module.wrap(inAscii(chunks[0].code)));
  rmSync(join(BUNDLES, 'packages.compiled'), { force: true });
  copyFileSync(PACKAGES_LOADER, PACKAGES);
  const { code, output } = await runTool(scope, process.execPath, [PACKAGES], { cwd: ROOT });
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
