import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure } from './failure.mjs';
import { makeFolder } from './files.mjs';
import { TOOLS } from './go-tool.mjs';
import { findProgram, runTool } from './tools.mjs';

const PLACES = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'];
const UNPACKED = join(TOOLS, 'nginx');

/**
 * Find nginx, or unpack Debian's package beside the checkout: nothing is installed, and no service begins.
 *
 * @param {import('./scope.mjs').Scope} scope
 * @returns {Promise<string>} its path
 * @throws {Failure} saying what to install
 */
export async function nginxProgram(scope) {
  const places = [...PLACES, join(UNPACKED, 'usr', 'sbin')];
  const found = findProgram(['nginx'], places);
  if (found) return found;
  const apt = existsSync('/etc/debian_version') ? findProgram(['apt-get']) : undefined;
  if (apt) await unpack(scope, apt);
  const unpacked = findProgram(['nginx'], places);
  if (unpacked) return unpacked;
  throw new Failure(
    'No nginx was found, which the tests use as a proxy: install it with the package manager of the system.',
  );
}

/**
 * @param {import('./scope.mjs').Scope} scope
 * @param {string} apt
 */
async function unpack(scope, apt) {
  const folder = join(TOOLS, `nginx-package-${process.pid}`);
  makeFolder(folder);
  try {
    const download = () => runTool(scope, apt, ['-q', 'download', 'nginx'], { cwd: folder });
    // The list of packages may be absent, and only root may fetch it.
    if ((await download()).code !== 0 && process.getuid?.() === 0) {
      await runTool(scope, apt, ['-q', 'update']);
      await download();
    }
    for (const name of readdirSync(folder)) await runTool(scope, 'dpkg', ['-x', join(folder, name), UNPACKED]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
