import { copyFileSync, existsSync, linkSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { Failure, misuse, readFlags, runCommand, say, task } from './lib/command/index.mjs';
import {
  GENERATED_CLIENT,
  PROCESS_IMAGES,
  SETUP_ROOTS,
  billOfMaterials,
  billOfProcess,
  contentsOf,
  licenceList,
  packageClosure,
  provenanceOf,
  setUp,
} from './lib/setup/index.mjs';
import { ROOT, filesUnder, makeFolder, writeJson, writeWhole } from './lib/system/index.mjs';

const HELP = `Lays out what the images hold, each folder complete in itself: code and the packages it needs, nothing else.

  --out DIR   an empty or absent folder; gets a folder for each process (DIR/api with the command line and the consoles, DIR/worker
              and so on) and DIR/setup (migrations, the bucket), in each sbom.cdx.json and licences.txt of its npm packages,
              and provenance.json, which says what it was made from
  --revision SHA  the commit, for provenance.json
  --base NAME     the image below, for provenance.json
  --link      link files instead of copying them where the folder is on the same disk: quick, and nothing there may be changed`;

/** Of packages: types, source maps, and what Prisma's client needs for other databases. */
const NOT_RUN =
  /(\.d\.[cm]?ts|\.map|@prisma\/client\/runtime\/query_compiler_\w+\.(cockroachdb|mysql|sqlite|sqlserver)\..*)$/;
/** What the image's build has where nobody named the commit. */
const UNKNOWN = 'unknown';
const SETUP_SCRIPTS = ['migrate.mjs', 'make-bucket.mjs', 'lib'];

/** @typedef {(file: string, place: string) => void} Put */

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const text = { type: /** @type {const} */ ('string') };
  const { out, link, ...given } = readFlags(HELP, { out: text, link: { type: 'boolean' }, revision: text, base: text });
  if (out === undefined) throw misuse('--out is missing');
  const target = resolve(String(out));
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new Failure(`${out} is not empty; name another folder.`);
  }
  const revision = given.revision === UNKNOWN ? undefined : given.revision;
  if (revision !== undefined && !/^[0-9a-f]{40,64}$/.test(revision))
    throw misuse(`--revision must be the whole name of a commit, as git rev-parse HEAD prints it, and is ${revision}`);
  const from = { revision, base: given.base };
  await setUp(scope);
  const put = link ? linkOrCopy : copyFileSync;
  const shipped = await task(scope, 'Listing what is shipped', () => billOfMaterials('services'));
  for (const process of PROCESS_IMAGES) {
    await task(scope, `Laying out ${process}`, async () => {
      const folder = join(target, process);
      const { files, packages, held } = await contentsOf(scope, process, folder);
      const client = filesUnder(GENERATED_CLIENT).filter(isRun);
      layOut(folder, put, [...files, ...client, ...filesOfPackages(packages)]);
      list(folder, process, billOfProcess(shipped, process, held), from);
    });
  }
  await task(scope, 'Laying out the set-up', async () => {
    layOutSetup(join(target, 'setup'), put);
    list(join(target, 'setup'), 'setup', await billOfMaterials('setup'), from);
  });
  say(`${out} holds ${[...PROCESS_IMAGES, 'setup'].join(', ')}.`);
}

/**
 * @param {string} folder
 * @param {string} image
 * @param {import('./lib/setup/image-contents.mjs').Bill} bill of what it holds
 * @param {{ revision: string | undefined, base: string | undefined }} from
 */
function list(folder, image, bill, from) {
  writeJson(join(folder, 'sbom.cdx.json'), bill);
  writeWhole(join(folder, 'licences.txt'), licenceList(bill));
  writeJson(join(folder, 'provenance.json'), provenanceOf(folder, image, from));
}

/**
 * @param {string} target
 * @param {Put} put
 */
function layOutSetup(target, put) {
  layOut(target, put, [
    ...filesOfPackages(packageClosure(SETUP_ROOTS)),
    join(ROOT, 'package.json'),
    ...filesUnder(join(ROOT, 'prisma')),
    ...SETUP_SCRIPTS.flatMap((name) => filesOf(join(ROOT, 'scripts', name))),
  ]);
}

/** @param {string[]} folders of packages */
function filesOfPackages(folders) {
  // Packages nested in another one are wanted, or not, in their own right.
  return folders.flatMap((folder) =>
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
