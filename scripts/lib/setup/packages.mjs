import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { Failure, systemSentenceIn, task } from '../command/index.mjs';
import { HOME, MODULES, ROOT, digestOf, readJson, runTool, writeJson, writeWhole } from '../system/index.mjs';
import { pathsOf } from './lockfile.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/**
 * @typedef {{
 *   version?: string,
 *   link?: boolean,
 *   optional?: boolean,
 *   devOptional?: boolean,
 *   os?: string[],
 *   cpu?: string[],
 *   libc?: string[],
 *   dependencies?: Record<string, string>,
 *   optionalDependencies?: Record<string, string>,
 * }} Package
 * @typedef {Record<string, Package>} Packages
 * @typedef {{ os: string, cpu: string, libc: string | undefined }} Machine
 */

/** Written last, inside the folder that `npm ci` removes first: it stands only beside a finished installation. */
const STAMP = join(MODULES, '.millrace-installed.json');
/** Exists from the beginning of our installation to its success: npm's own files do not show that one was broken off. */
const UNDER_WAY = join(HOME, 'installing');
/** npm writes this one last, too, with what it really put there. */
const INSTALLED = join(MODULES, '.package-lock.json');

/**
 * Make node_modules what package-lock.json says. Nothing is done where it already is, however it came about.
 *
 * @param {Scope} scope
 * @param {import('../system/lock.mjs').Lock} lock
 */
export async function installPackages(scope, lock) {
  const digest = digestOf(readFileSync(join(ROOT, 'package-lock.json')), process.platform, process.arch);
  const stamp = /** @type {{ digest?: string } | undefined} */ (readJson(STAMP));
  if (stamp?.digest === digest && everyPackage(isThere)) return;
  if (existsSync(UNDER_WAY) || !matchesLock()) {
    await task(scope, 'Installing packages', () => runNpm(scope, lock));
  }
  writeJson(STAMP, { digest });
}

/** Whether what npm says it installed is what the lock wants, and is all there. */
function matchesLock() {
  const wanted = packagesIn(join(ROOT, 'package-lock.json'));
  const installed = packagesIn(INSTALLED);
  if (!wanted || !installed) return false;
  const agrees = Object.entries(wanted).every(([path, { version, optional, devOptional, link }]) => {
    if (path === '' || link) return true;
    const found = installed[path];
    return found ? found.version === version : Boolean(optional || devOptional);
  });
  return agrees && everyPackage(isThatVersion);
}

/** @param {(path: string, version: string | undefined) => boolean} holds */
function everyPackage(holds) {
  const installed = packagesIn(INSTALLED);
  if (installed === undefined) return false;
  const absent = Object.entries(installed).filter(([path, { version }]) => !holds(path, version));
  if (absent.length === 0) return true;
  const wanted = packagesIn(join(ROOT, 'package-lock.json')) ?? {};
  return wereLeftOut(
    absent.map(([path]) => path),
    wanted,
    thisMachine(),
  );
}

/**
 * Whether npm has left these packages out because of the machine: each is for another one, or optional and needed by none but those
 * that were left out.
 *
 * @param {string[]} absent
 * @param {Packages} wanted what the lock says of all packages; npm's list of what it installed lacks the C library
 * @param {Machine} machine
 */
export function wereLeftOut(absent, wanted, machine) {
  /** @type {Map<string, string[]>} */
  const needing = new Map(absent.map((path) => [path, []]));
  for (const [path, { dependencies, optionalDependencies }] of Object.entries(wanted)) {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const needed = pathsOf(path, name).find((candidate) => wanted[candidate]);
      needing.get(needed ?? '')?.push(path);
    }
  }
  return absent.every((path) => {
    const entry = wanted[path] ?? {};
    if (isOfElsewhere(entry, machine)) return true;
    const needs = needing.get(path) ?? [];
    return (
      Boolean(entry.optional || entry.devOptional) && needs.length > 0 && needs.every((other) => needing.has(other))
    );
  });
}

/**
 * Whether npm has left out an optional package because it is for other machines. npm 11.6 names those, too, among what it installed.
 *
 * @param {Package} entry
 * @param {Machine} machine
 */
export function isOfElsewhere({ optional, devOptional, os, cpu, libc }, machine) {
  const excludes = (/** @type {string[] | undefined} */ allowed, /** @type {string | undefined} */ own) =>
    allowed !== undefined &&
    own !== undefined &&
    !allowed.includes(own) &&
    !allowed.some((name) => name.startsWith('!'));
  return (
    Boolean(optional || devOptional) &&
    (excludes(os, machine.os) || excludes(cpu, machine.cpu) || excludes(libc, machine.libc))
  );
}

/** @returns {Machine} */
function thisMachine() {
  const { platform, arch } = process;
  if (platform !== 'linux') return { os: platform, cpu: arch, libc: undefined };
  const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return { os: platform, cpu: arch, libc: header.glibcVersionRuntime ? 'glibc' : 'musl' };
}

/** @param {string} path */
function isThere(path) {
  return existsSync(join(ROOT, path, 'package.json'));
}

/**
 * @param {string} path
 * @param {string | undefined} version
 */
function isThatVersion(path, version) {
  const manifest = /** @type {{ version?: string } | undefined} */ (readJson(join(ROOT, path, 'package.json')));
  return manifest !== undefined && (version === undefined || manifest.version === version);
}

/**
 * @param {string} lockFile
 * @returns {Packages | undefined}
 */
function packagesIn(lockFile) {
  return /** @type {{ packages?: Packages } | undefined} */ (readJson(lockFile))?.packages;
}

/**
 * @param {Scope} scope
 * @param {import('../system/lock.mjs').Lock} lock
 */
async function runNpm(scope, lock) {
  const [command = 'npm', ...before] = npmCommand();
  // Development packages are needed to build, also where NODE_ENV=production would make npm leave them out.
  const args = ['ci', '--include=dev', '--include=optional', '--prefer-offline', '--no-audit', '--no-fund'];
  writeWhole(UNDER_WAY, '');
  const { code, output } = await runTool(scope, command, [...before, ...args], {
    cwd: ROOT,
    onSpawn: (tool) => lock.noteTool(tool),
  }).catch((/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code === 'ENOENT') throw new Failure('npm was not found: install it beside Node and try again.');
    throw error;
  });
  // To npm a file that it could not write is worth a warning.
  if (code === 0 && !/TAR_ENTRY_ERROR/.test(output)) return rmSync(UNDER_WAY);
  throw new Failure(systemSentenceIn(output) ?? reasonOf(output));
}

/** The npm that started this command, else the one on PATH. */
export function npmCommand() {
  const path = process.env.npm_execpath;
  return path && basename(path) === 'npm-cli.js' ? [process.execPath, path] : ['npm'];
}

/** @param {string} output */
function reasonOf(output) {
  const log = join(HOME, 'npm-ci.log');
  writeWhole(log, output);
  if (/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/.test(output)) {
    return `The packages could not be downloaded: the registry was not reached (details in ${log}).`;
  }
  const line = output.split('\n').find((text) => /^npm error (?!code|errno|syscall)/.test(text));
  return `npm ci failed: ${line?.replace(/^npm error /, '') ?? 'no reason given'} (details in ${log}).`;
}
