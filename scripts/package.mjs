import { chmodSync, cpSync, existsSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { runCommand } from './lib/command.mjs';
import { misuse, readFlags } from './lib/flags.mjs';
import { Failure } from './lib/failure.mjs';
import { makeFolder } from './lib/files.mjs';
import { GENERATED_CLIENT, SETUP_ROOTS, packageClosure, serviceRoots } from './lib/package-closure.mjs';
import { ROOT } from './lib/paths.mjs';
import { setUp } from './lib/setup.mjs';
import { say, task } from './lib/terminal.mjs';

const HELP = `Lays out what the images hold, each folder complete in itself: code and the packages it needs, nothing else.

  --out DIR   an empty or absent folder; gets DIR/services (api, worker, maintenance, the command line) and DIR/setup
              (migrations, the bucket)`;

/** What only tests and builds use. */
const NOT_SHIPPED = [join(ROOT, 'dist', 'libs', 'testing'), join(ROOT, 'dist', '.build.json')];
const SETUP_SCRIPTS = ['migrate.mjs', 'make-bucket.mjs', 'lib'];

/** @param {import('./lib/scope.mjs').Scope} scope */
async function main(scope) {
  const { out } = readFlags(HELP, { out: { type: 'string' } });
  if (out === undefined) throw misuse('--out is missing');
  const target = resolve(out);
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new Failure(`${out} is not empty; name another folder.`);
  await setUp(scope);
  await task(scope, 'Laying out the services', async () => layOutServices(join(target, 'services')));
  await task(scope, 'Laying out the set-up', async () => layOutSetup(join(target, 'setup')));
  say(`${out} holds services and setup.`);
}

/** @param {string} target */
function layOutServices(target) {
  copyPackages(target, serviceRoots());
  copy(GENERATED_CLIENT, target);
  copy(join(ROOT, 'package.json'), target);
  copy(join(ROOT, 'dist'), target, (source) => !NOT_SHIPPED.includes(source));
}

/** @param {string} target */
function layOutSetup(target) {
  copyPackages(target, SETUP_ROOTS);
  for (const name of ['package.json', 'prisma.config.ts', 'prisma']) copy(join(ROOT, name), target);
  for (const name of SETUP_SCRIPTS) copy(join(ROOT, 'scripts', name), target);
  // Run as a program by Prisma; in an image nobody may set this later.
  chmodSync(join(target, 'scripts', 'lib', 'schema-engine-shim.mjs'), 0o755);
}

/**
 * @param {string} target
 * @param {string[]} roots
 */
function copyPackages(target, roots) {
  const folders = new Set(packageClosure(roots));
  for (const folder of folders) {
    // Packages nested in this one are wanted, or not, in their own right.
    copy(folder, target, (source) => source !== join(folder, 'node_modules'));
  }
}

/**
 * Copy a file or folder of the checkout to its place below `target`.
 *
 * @param {string} source
 * @param {string} target
 * @param {(source: string) => boolean} [filter]
 */
function copy(source, target, filter) {
  const place = join(target, relative(ROOT, source));
  makeFolder(dirname(place));
  cpSync(source, place, { recursive: true, dereference: true, filter });
}

await runCommand(main);
