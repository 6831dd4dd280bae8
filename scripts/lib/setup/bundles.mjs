import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import process from 'node:process';
import { task } from '../command/index.mjs';
import { BUNDLES, DIST, ROOT, digestOf, makeFolder, readJson, writeJson } from '../system/index.mjs';
import { FIRST, LOADER, bundleOwnCode, bundlePackages, sharing, withoutEnding } from './bundle-code.mjs';
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

const MANIFEST = join(BUNDLES, '.bundles.json');
const PACKAGES = join(BUNDLES, LOADER);
const SETUP = join(ROOT, 'scripts', 'lib', 'setup');
/** What decides how a bundle is made. */
const MAKERS = ['bundles.mjs', 'bundle-code.mjs', 'bundle-entries.mjs', 'packages-loader.js'];

/**
 * Make the files that the processes are started from, as far as something changed: a process of one file starts in half the
 * time of one that reads 1,500.
 *
 * @param {Scope} scope
 * @param {Record<string, string>} sources what dist was compiled from: each source, with what changes when it does
 * @param {string} compiler digest of what compiled it
 */
export async function bundle(scope, sources, compiler) {
  const settings = MAKERS.map((name) => readFileSync(join(SETUP, name)));
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
      const apart = name in PROCESSES ? `${FIRST}\n${sharing(`./${LOADER}`)}` : undefined;
      const { modules, packages } = await bundleOwnCode(entry, fileOf(name), apart);
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
      await bundlePackages(scope, used, BUNDLES);
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

/**
 * Make what a process has in an image beside its own bundles: the packages of these and of `tools`, and no others, and each of the
 * tools as one file at its own place.
 *
 * @param {Scope} scope
 * @param {{ names: string[], tools: string[] }} contents `names`: of bundles. `tools`: programs in dist
 * @param {string} target what becomes dist in the image; the packages that are loaded from node_modules are beside it
 * @returns {Promise<string[]>} the packages that are in it now, by the names that the code gives them
 */
export async function bundleForImage(scope, { names, tools }, target) {
  const known = readManifest().bundles ?? {};
  const used = new Set(names.flatMap((name) => known[name]?.packages ?? []));
  const packages = join(target, relative(DIST, PACKAGES));
  makeFolder(dirname(packages));
  for (const tool of tools) {
    const file = join(target, tool);
    const own = await bundleOwnCode(tool, file, sharing(relative(dirname(file), packages)));
    for (const name of own.packages) used.add(name);
  }
  await bundlePackages(scope, [...used].sort(), dirname(packages));
  return [...used].sort();
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
