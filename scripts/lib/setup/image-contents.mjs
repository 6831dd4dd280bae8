import { basename, join, relative } from 'node:path';
import { BUNDLES, CONSOLE, DIST, OPS_CONSOLE, ROOT, filesUnder, readJson } from '../system/index.mjs';
import { loadedFromModules } from './bundle-code.mjs';
import { BESIDE, PROCESSES, RUNS } from './bundle-entries.mjs';
import { bundleForImage } from './bundles.mjs';
import { packageClosure, serviceRoots } from './package-closure.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {keyof typeof PROCESSES} Process */
/** @typedef {import('./bill-of-materials.mjs').Bill} Bill */

export const PROCESS_IMAGES = /** @type {Process[]} */ (Object.keys(PROCESSES));
/**
 * Programs of dist that operators run in an image, beside its process: each stays where it is in a checkout.
 *
 * @type {Partial<Record<Process, string[]>>}
 */
const TOOLS = {
  api: ['apps/cli/src/main.js'],
  maintenance: ['apps/maintenance/src/verify-storage.js', 'apps/maintenance/src/reapply-erasures.js'],
};
/** @type {Partial<Record<Process, string[]>>} */
const PAGES = { api: [CONSOLE, OPS_CONSOLE] };

/**
 * The image of one process: its bundles and what they read, and of packages those that they load.
 *
 * @param {Scope} scope
 * @param {Process} process
 * @param {string} target the folder that becomes that of the image; what is bundled for it is written there
 * @returns {Promise<{ files: string[], packages: string[], held: string[] }>} `files`: of the checkout, for the same places below the
 *   target. `packages`: folders of packages that belong there, too. `held`: of all packages whose code is in the image
 */
export async function contentsOf(scope, process, target) {
  const names = /** @type {Record<string, string[]>} */ (RUNS)[process] ?? [process];
  const bundles = names.map((name) => join(BUNDLES, `${name}.js`));
  const tools = TOOLS[process] ?? [];
  const dist = join(target, relative(ROOT, DIST));
  const used = await bundleForImage(scope, { names, tools }, dist);
  const outside = loadedFromModules([...bundles, ...tools.map((tool) => join(dist, tool))]);
  const files = [
    join(ROOT, 'package.json'),
    ...bundles.flatMap((file) => [file, `${file}.map`]),
    ...(BESIDE[process] ?? []).map((file) => join(BUNDLES, basename(file))),
    ...(PAGES[process] ?? []).flatMap(filesUnder),
  ];
  return { files, packages: packageClosure(outside), held: packageClosure([...outside, ...used.map(packageOf)]) };
}

/** @param {string} name that code gives to a package, or to a part of one */
function packageOf(name) {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/**
 * What the image of a process holds of the work of others.
 *
 * @param {Bill} all what is shipped as processes
 * @param {Process} process
 * @param {string[]} held folders of packages
 * @returns {Bill}
 */
export function billOfProcess(all, process, held) {
  const [own, ofServices] = [held, packageClosure(serviceRoots())].map((folders) => new Set(folders.map(referenceOf)));
  // What is of no process is of the pages that browsers get.
  const isHeld = (/** @type {string} */ ref) => own?.has(ref) || (process in PAGES && !ofServices?.has(ref));
  const root = String(all.metadata.component['bom-ref']);
  return {
    ...all,
    metadata: { ...all.metadata, component: { ...all.metadata.component, name: `millrace-${process}` } },
    components: all.components.filter((one) => isHeld(one['bom-ref'])),
    dependencies: all.dependencies
      .filter(({ ref }) => ref === root || isHeld(ref))
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isHeld) })),
  };
}

/** @param {string} folder of a package */
function referenceOf(folder) {
  const { name, version } = /** @type {{ name: string, version: string }} */ (readJson(join(folder, 'package.json')));
  return `${name}@${version}`;
}
