import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, readFlags, runCommand, say } from './lib/command/index.mjs';
import { completeLockfile, missingPlatformPackages, unverifiedPackages } from './lib/setup/index.mjs';
import { ROOT, parseJson, writeJson } from './lib/system/index.mjs';

/** @typedef {import('./lib/setup/lockfile.mjs').Lockfile} Lockfile */

const FILE = join(ROOT, 'package-lock.json');
const HELP = `Looks whether package-lock.json has an entry for every platform, without which npm ci refuses it, and the hash of every
package that the images can hold.

  --write   add the missing entries`;

async function main() {
  const flags = readFlags(HELP, { write: { type: 'boolean' } });
  const lock = /** @type {Lockfile} */ (parseJson(readFileSync(FILE, 'utf8')));
  const [unverified, ...more] = unverifiedPackages(lock);
  if (unverified !== undefined) {
    throw new Failure(
      `package-lock.json has no integrity hash for ${1 + more.length} packages, such as ${unverified}: ` +
        'remove those entries and run npm install --package-lock-only.',
    );
  }
  const missing = Object.keys(missingPlatformPackages(lock));
  if (missing.length === 0)
    return say('package-lock.json has an entry for every platform, and a hash for what the images hold.');
  if (!flags.write) {
    throw new Failure(
      `package-lock.json lacks ${missing.length} packages of other platforms, such as ${missing[0]}: ` +
        'run node scripts/lockfile.mjs --write.',
    );
  }
  writeJson(FILE, completeLockfile(lock));
  say(`package-lock.json has ${missing.length} more entries.`);
}

await runCommand(main);
