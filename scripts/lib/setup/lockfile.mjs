/**
 * @typedef {{
 *   version?: string,
 *   optionalDependencies?: Record<string, string>,
 *   optional?: boolean,
 *   dev?: boolean,
 *   os?: string[],
 *   cpu?: string[],
 *   libc?: string[],
 *   integrity?: string,
 *   link?: boolean,
 * }} LockedPackage
 */
/** @typedef {{ packages: Record<string, LockedPackage> }} Lockfile */

/** Words in the names of platform packages, and what npm calls the same. */
const SYSTEMS = {
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  netbsd: 'netbsd',
  openbsd: 'openbsd',
  openharmony: 'openharmony',
  sunos: 'sunos',
  win32: 'win32',
  windows: 'win32',
};
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

/**
 * The packages for other platforms that a lock file names and has no entry for. npm leaves an optional package out when its
 * registry does not have it, and `npm ci` then refuses the lock file, on every platform. An entry that names the version and
 * the platform is enough for it; only its checksum is missing.
 *
 * @param {Lockfile} lock
 * @returns {Record<string, LockedPackage>} the missing entries by their path
 */
export function missingPlatformPackages({ packages }) {
  /** @type {Record<string, LockedPackage>} */
  const missing = {};
  for (const [path, { optionalDependencies = {}, dev }] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(optionalDependencies)) {
      if (pathsOf(path, name).some((candidate) => packages[candidate])) continue;
      const version = range.replace(/^[\^~]/, '');
      missing[`node_modules/${name}`] = { version, ...platformOf(name), ...(dev ? { dev } : {}), optional: true };
    }
  }
  return missing;
}

/**
 * The packages that npm would install without comparing their bytes with a hash. An optional package that is only for other
 * systems than the images' has none where no registry at hand has it; on those systems npm asks its own registry.
 *
 * @param {Lockfile} lock
 * @returns {string[]} their paths
 */
export function unverifiedPackages({ packages }) {
  return Object.entries(packages)
    .filter(([path, { integrity, link }]) => path.includes('node_modules/') && !integrity && !link)
    .filter(([, locked]) => !isForOtherSystems(locked))
    .map(([path]) => path);
}

/** @param {LockedPackage} locked */
function isForOtherSystems({ optional, os = [], cpu = [], libc = [] }) {
  const fits = (/** @type {string[]} */ wanted, /** @type {string} */ ours) =>
    wanted.length === 0 || wanted.includes(ours);
  return optional === true && !(fits(os, 'linux') && fits(cpu, 'x64') && fits(libc, 'glibc'));
}

/**
 * Where a package looks for one that it depends on, the nearest place first.
 *
 * @param {string} path
 * @param {string} name
 * @returns {string[]}
 */
export function pathsOf(path, name) {
  const places = path === '' ? [] : path.split(/(?:^|\/)node_modules\//).slice(1);
  return [...places.keys(), places.length]
    .map((depth) => [...places.slice(0, depth), name].map((place) => `node_modules/${place}`).join('/'))
    .reverse();
}

/**
 * @param {string} name e.g. `@swc/core-linux-arm64-gnu`
 * @returns {LockedPackage}
 */
function platformOf(name) {
  const words = name.split(/[^a-z0-9]+/);
  const cpu = PROCESSORS.filter((processor) => words.includes(processor));
  const os = Object.entries(SYSTEMS).flatMap(([word, system]) => (words.includes(word) ? [system] : []));
  const musl = words.some((word) => word.startsWith('musl'));
  const glibc = os.includes('linux') && words.some((word) => word.startsWith('gnu'));
  return {
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(musl ? { libc: ['musl'] } : glibc ? { libc: ['glibc'] } : {}),
    ...(os.length > 0 ? { os } : {}),
  };
}

/**
 * @param {Lockfile} lock
 * @returns {Lockfile} with the missing entries, in npm's order
 */
export function completeLockfile(lock) {
  const packages = { ...lock.packages, ...missingPlatformPackages(lock) };
  const sorted = Object.entries(packages).sort(([one], [other]) => one.localeCompare(other, 'en'));
  return { ...lock, packages: Object.fromEntries(sorted) };
}
