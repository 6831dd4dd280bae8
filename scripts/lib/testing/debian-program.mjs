import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure } from '../command/index.mjs';
import { TOOLS, findProgram, makeFolder, runTool } from '../system/index.mjs';

/**
 * A program that tests use, and the package of Debian that has it.
 *
 * @typedef {{ name: string, package: string, what: string }} DebianProgram
 */

const PLACES = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'];

/** @param {import('../command/scope.mjs').Scope} scope */
export const nginxProgram = (scope) =>
  debianProgram(scope, { name: 'nginx', package: 'nginx', what: 'a proxy before the service' });

/** @param {import('../command/scope.mjs').Scope} scope */
export const promtoolProgram = (scope) =>
  debianProgram(scope, { name: 'promtool', package: 'prometheus', what: 'the judge of alert rules' });

/** @param {import('../command/scope.mjs').Scope} scope */
export const prometheusProgram = (scope) =>
  debianProgram(scope, { name: 'prometheus', package: 'prometheus', what: 'the server of alerts' });

/** @param {import('../command/scope.mjs').Scope} scope */
export function redisExporterProgram(scope) {
  const name = 'prometheus-redis-exporter';
  return debianProgram(scope, { name, package: name, what: 'the metrics of Redis' });
}

/**
 * PgBouncer, with the libraries of its own that a system without it rarely has.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @returns {Promise<{ program: string, env: Record<string, string> }>}
 */
export async function pgbouncerProgram(scope) {
  const name = 'pgbouncer';
  const program = await debianProgram(scope, { name, package: name, what: 'a pooler before PostgreSQL' });
  const unpacked = join(TOOLS, name);
  if (!program.startsWith(unpacked)) return { program, env: {} };
  const libraries = join(unpacked, 'usr', 'lib');
  if (!existsSync(libraries)) {
    const { output } = await runTool(scope, 'apt-cache', ['depends', '--important', name]);
    const wanted = [...output.matchAll(/Depends: (lib(?:c-ares|cares|event)\S*)/g)].map(([, library]) => library ?? '');
    const apt = findProgram(['apt-get']) ?? 'apt-get';
    for (const library of wanted) await unpack(scope, apt, library, unpacked);
  }
  const places = existsSync(libraries) ? readdirSync(libraries).map((triplet) => join(libraries, triplet)) : [];
  return { program, env: { LD_LIBRARY_PATH: places.join(':') } };
}

/**
 * Find a program, or unpack Debian's package of it beside the checkout: nothing is installed, and no service begins.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {DebianProgram} program
 * @returns {Promise<string>} its path
 * @throws {Failure} saying what to install
 */
async function debianProgram(scope, program) {
  const unpacked = join(TOOLS, program.package);
  const places = [...PLACES, join(unpacked, 'usr', 'sbin'), join(unpacked, 'usr', 'bin')];
  const found = findProgram([program.name], places);
  if (found) return found;
  const apt = existsSync('/etc/debian_version') ? findProgram(['apt-get']) : undefined;
  if (apt) await unpack(scope, apt, program.package, unpacked);
  const fetched = findProgram([program.name], places);
  if (fetched) return fetched;
  throw new Failure(
    `No ${program.name} was found, which the tests use as ${program.what}: install it with the package manager of the system.`,
  );
}

/**
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {string} apt
 * @param {string} name of the package
 * @param {string} into
 */
async function unpack(scope, apt, name, into) {
  const folder = join(TOOLS, `${name}-package-${process.pid}`);
  makeFolder(folder);
  try {
    const download = () => runTool(scope, apt, ['-q', 'download', name], { cwd: folder });
    // The list of packages may be absent, and only root may fetch it.
    if ((await download()).code !== 0 && process.getuid?.() === 0) {
      await runTool(scope, apt, ['-q', 'update']);
      await download();
    }
    for (const file of readdirSync(folder)) await runTool(scope, 'dpkg', ['-x', join(folder, file), into]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Its shell without windows draws a page for three quarters of the processor time. */
const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
/** A release of Debian may have no package of the shell. */
const BROWSER_PACKAGES = ['chromium-headless-shell', 'chromium'];

/**
 * Chromium: found, or installed where nobody need be asked. It needs a hundred libraries, so it is not unpacked beside the checkout.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @returns {Promise<string>} its path
 * @throws {Failure} saying what to install
 */
export async function chromiumProgram(scope) {
  const found = findProgram(BROWSERS);
  if (found) return found;
  const isOurs = process.getuid?.() === 0 && existsSync('/etc/debian_version');
  const apt = isOurs ? findProgram(['apt-get']) : undefined;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  const wait = ['-q', '-o', 'DPkg::Lock::Timeout=300'];
  const install = async () => {
    for (const name of BROWSER_PACKAGES) {
      const flags = ['install', ...wait, '-y', '--no-install-recommends', name];
      if ((await runTool(scope, apt ?? '', flags, { env, unbroken: true })).code === 0) return true;
    }
    return false;
  };
  // The list of packages may be absent.
  if (apt && !(await install())) {
    await runTool(scope, apt, ['update', ...wait], { env });
    await install();
  }
  const installed = findProgram(BROWSERS);
  if (installed) return installed;
  throw new Failure(
    'No Chromium was found, in which the console is tested: install the package chromium of the system.',
  );
}
