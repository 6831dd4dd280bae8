import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MODULES, ROOT, readJson } from '../system/index.mjs';

/**
 * @typedef {{
 *   dependencies?: Record<string, string>,
 *   optionalDependencies?: Record<string, string>,
 *   peerDependencies?: Record<string, string>,
 *   peerDependenciesMeta?: Record<string, { optional?: boolean }>,
 * }} Manifest
 */

/**
 * The folders of the packages that `roots` need to run, found the way Node finds them. Optional ones count where they are
 * installed; optional peers do not, because a package that uses one depends on it.
 *
 * @param {string[]} roots names of packages in the checkout's node_modules
 * @returns {string[]} absolute folders, none inside of which a wanted one is left out
 * @throws {Error} when a package is not installed
 */
export function packageClosure(roots) {
  /** @type {Set<string>} */
  const found = new Set();
  const waiting = roots.map((name) => ({ name, from: ROOT, needed: true }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const folder = resolve(next.name, next.from);
    if (folder === undefined) {
      if (!next.needed) continue;
      throw new Error(`The package ${next.name}, which ${next.from} needs, is not installed.`);
    }
    if (found.has(folder)) continue;
    found.add(folder);
    waiting.push(...needsOf(folder));
  }
  return [...found].sort();
}

/** @param {string} folder */
function needsOf(folder) {
  const manifest = /** @type {Manifest} */ (readJson(join(folder, 'package.json')) ?? {});
  const optional = manifest.optionalDependencies ?? {};
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter(
    (name) => !manifest.peerDependenciesMeta?.[name]?.optional,
  );
  const needed = Object.keys(manifest.dependencies ?? {}).filter((name) => !(name in optional));
  return [
    ...needed.map((name) => ({ name, from: folder, needed: true })),
    ...[...Object.keys(optional), ...peers].map((name) => ({ name, from: folder, needed: false })),
  ];
}

/**
 * @param {string} name
 * @param {string} from
 * @returns {string | undefined}
 */
function resolve(name, from) {
  for (let folder = from; folder.startsWith(ROOT); folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
  }
  return undefined;
}

/** What the processes need: the project's own dependencies. */
export function serviceRoots() {
  const manifest = /** @type {Manifest} */ (readJson(join(ROOT, 'package.json')));
  return Object.keys(manifest.dependencies ?? {});
}

/** What migrations and the making of a bucket need. */
export const SETUP_ROOTS = ['pg', '@aws-sdk/client-s3'];

/** Made by Prisma from the schema, outside of any package. */
export const GENERATED_CLIENT = join(MODULES, '.prisma');
