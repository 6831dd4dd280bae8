import { chmodSync, copyFileSync, existsSync, linkSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { Failure, misuse, readFlags, runCommand, say, task } from './lib/command/index.mjs';
import {
  GENERATED_CLIENT,
  IMAGES,
  SETUP_ROOTS,
  billOfMaterials,
  licenceList,
  packageClosure,
  serviceRoots,
  setUp,
} from './lib/setup/index.mjs';
import { DIST, ROOT, filesUnder, makeFolder, writeJson, writeWhole } from './lib/system/index.mjs';

const HELP = `Lays out what the images hold, each folder complete in itself: code and the packages it needs, nothing else.

  --out DIR   an empty or absent folder; gets DIR/services (api, worker, maintenance, the command line) and DIR/setup
              (migrations, the bucket), in each sbom.cdx.json and licences.txt of the packages in it
  --link      link files instead of copying them where the folder is on the same disk: quick, and nothing there may be changed`;

/** What only tests and builds use. */
const NOT_SHIPPED = [
  join(DIST, 'libs', 'testing') + sep,
  join(DIST, '.build.json'),
  join(DIST, '.console.json'),
  join(DIST, '.ops-console.json'),
];
/** Of packages: types, source maps, and what Prisma's client needs for other databases. */
const NOT_RUN =
  /(\.d\.[cm]?ts|\.map|@prisma\/client\/runtime\/query_compiler_\w+\.(cockroachdb|mysql|sqlite|sqlserver)\..*)$/;
const SETUP_SCRIPTS = ['migrate.mjs', 'make-bucket.mjs', 'lib'];

/** @typedef {(file: string, place: string) => void} Put */

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const { out, link } = readFlags(HELP, { out: { type: 'string' }, link: { type: 'boolean' } });
  if (out === undefined) throw misuse('--out is missing');
  const target = resolve(String(out));
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new Failure(`${out} is not empty; name another folder.`);
  }
  await setUp(scope);
  const put = link ? linkOrCopy : copyFileSync;
  await task(scope, 'Laying out the services', async () => layOutServices(join(target, 'services'), put));
  await task(scope, 'Laying out the set-up', async () => layOutSetup(join(target, 'setup'), put));
  await task(scope, 'Listing what they hold', () => Promise.all(IMAGES.map((image) => listWhatIsHeld(target, image))));
  say(`${out} holds services and setup.`);
}

/**
 * @param {string} target
 * @param {typeof IMAGES[number]} image
 */
async function listWhatIsHeld(target, image) {
  const bill = await billOfMaterials(image);
  writeJson(join(target, image, 'sbom.cdx.json'), bill);
  writeWhole(join(target, image, 'licences.txt'), licenceList(bill));
}

/**
 * @param {string} target
 * @param {Put} put
 */
function layOutServices(target, put) {
  layOut(target, put, [
    ...filesOfPackages(serviceRoots()),
    ...filesUnder(GENERATED_CLIENT).filter(isRun),
    join(ROOT, 'package.json'),
    ...filesUnder(DIST).filter((file) => !NOT_SHIPPED.some((start) => file.startsWith(start))),
  ]);
}

/**
 * @param {string} target
 * @param {Put} put
 */
function layOutSetup(target, put) {
  layOut(target, put, [
    ...filesOfPackages(SETUP_ROOTS),
    ...['package.json', 'prisma.config.ts'].map((name) => join(ROOT, name)),
    ...filesUnder(join(ROOT, 'prisma')),
    ...SETUP_SCRIPTS.flatMap((name) => filesOf(join(ROOT, 'scripts', name))),
  ]);
  // Run as a program by Prisma; in an image nobody may set this later.
  chmodSync(join(target, 'scripts', 'lib', 'prisma', 'schema-engine-shim.mjs'), 0o755);
}

/** @param {string[]} roots */
function filesOfPackages(roots) {
  // Packages nested in another one are wanted, or not, in their own right.
  return packageClosure(roots).flatMap((folder) =>
    filesUnder(folder).filter((file) => isRun(file) && !file.slice(folder.length).includes(`${sep}node_modules${sep}`)),
  );
}

/** @param {string} file */
function isRun(file) {
  return !NOT_RUN.test(file);
}

/** @param {string} path */
function filesOf(path) {
  return statSync(path).isDirectory() ? filesUnder(path) : [path];
}

/**
 * Put files of the checkout to their places below `target`.
 *
 * @param {string} target
 * @param {Put} put
 * @param {string[]} files
 */
function layOut(target, put, files) {
  const made = new Set();
  for (const file of files) {
    const place = join(target, relative(ROOT, file));
    if (!made.has(dirname(place))) makeFolder(dirname(place));
    made.add(dirname(place));
    put(file, place);
  }
}

/** @type {Put} */
function linkOrCopy(file, place) {
  try {
    linkSync(file, place);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EXDEV') throw error;
    copyFileSync(file, place);
  }
}

await runCommand(main);
