import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { say, task } from '../command/index.mjs';
import { ROOT, digestOf, filesUnder, makeFolder, readJson, writeJson, writeWhole } from '../system/index.mjs';
import { baseImage, buildah, ensureBaseImage, must } from './base-image.mjs';
import { COMFYUI_IMAGE, buildComfyuiImage } from './comfyui-image.mjs';
import { noteFound } from './figures.mjs';
import { CLUSTER, PROGRAMS } from './places.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */

/** As the chart names them; no such registry is ever asked. */
export const REPOSITORY = 'millrace.test/millrace';
export const PAUSE_IMAGE = 'millrace.test/pause:1';
/** The same images under two names, between which the release is upgraded and rolled back. */
export const TAGS = /** @type {const} */ (['first', 'second']);
/** All images as one archive, and what they were made from. */
export const ARCHIVE = join(CLUSTER, 'images.tar');
const MADE_FROM = join(CLUSTER, 'images.digest');
/** Without a container engine: in a changed root. The default limit of open files is too low for the packages. */
const ISOLATED = ['--isolation', 'chroot', '--ulimit', 'nofile=20000:20000'];
const BUILD = [...ISOLATED, '--format', 'docker', '--layers', '--pull-never'];
const TARGETS = ['api', 'worker', 'maintenance', 'fleet', 'gateway', 'setup'];
/** What .dockerignore lets through. */
const FOLDERS = ['apps', 'docs', 'libs', 'prisma', 'scripts'];
const FILES = [
  'docker/Dockerfile',
  'package.json',
  'package-lock.json',
  '.npmrc',
  '.swcrc',
  'tsconfig.json',
  'prisma.config.ts',
];
/** What no image is built from, though it is among the rest: tests, this command, and pages of text. */
const IS_LEFT_OUT = /\.(?:spec|int-spec|e2e-spec)\.ts$|\/scripts\/(?:lib\/cluster\/|lib\/testing\/|test-cluster)|\.md$/;

/**
 * @returns {string} of all that images are built from
 */
export function imagesDigest() {
  const files = [
    ...FOLDERS.flatMap((folder) => filesUnder(join(ROOT, folder))),
    ...FILES.map((file) => join(ROOT, file)),
  ];
  const kept = files.filter((file) => !IS_LEFT_OUT.test(file)).sort();
  return digestOf(...kept.flatMap((file) => [file, readFileSync(file)]));
}

/**
 * Build the images of every process by docker/Dockerfile, unless they are of these sources already.
 *
 * @param {Scope} scope
 */
export async function buildImages(scope) {
  await ensureBaseImage(scope);
  const digest = imagesDigest();
  if (/** @type {{ digest?: string } | undefined} */ (readJson(MADE_FROM))?.digest === digest) return;
  // The stage that all share keeps its name, so that what it downloaded stays when it is cleared up.
  await task(scope, 'Building the stage that all images share', () => buildTarget(scope, 'build'));
  for (const target of TARGETS) await task(scope, `Building the image ${target}`, () => buildTarget(scope, target));
  await task(scope, 'Building the pause image', () => buildPauseImage(scope));
  await task(scope, 'Building the image that stands in for ComfyUI', () => buildComfyuiImage(scope, BUILD));
  await task(scope, 'Writing the archive of images', () => writeArchive(scope));
  await buildah(scope, ['rmi', '--prune']);
  writeJson(MADE_FROM, { digest });
  await saySizes(scope);
}

/**
 * What each image takes on the disk of a node, unpacked. All but the first have its layers, which a node keeps once.
 *
 * @param {Scope} scope
 */
async function saySizes(scope) {
  const names = [baseImage(), ...TARGETS.map(nameOf)];
  const lines = (await buildah(scope, ['images', '--format', '{{.Name}}:{{.Tag}} {{.Size}}'])).trim().split('\n');
  for (const name of names) {
    const size =
      lines
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length)
        .trim() ?? 'unknown';
    say(`    ${name}: ${size}`);
    noteFound(`size of ${name.replace(/^.*\//, '')}`, size);
  }
}

/**
 * @param {Scope} scope
 * @param {string} target
 */
async function buildTarget(scope, target) {
  const from = ['--file', 'docker/Dockerfile', '--build-arg', `NODE_IMAGE=${baseImage()}`];
  await buildah(scope, ['bud', ...BUILD, ...from, '--target', target, '--tag', nameOf(target), '.']);
}

/** @param {Scope} scope */
async function buildPauseImage(scope) {
  const container = (await buildah(scope, ['from', 'scratch'])).trim().split('\n').at(-1) ?? '';
  await buildah(scope, ['copy', container, join(PROGRAMS, 'pause'), '/pause']);
  await buildah(scope, ['config', '--entrypoint', '["/pause"]', container]);
  await buildah(scope, ['commit', '--rm', container, PAUSE_IMAGE]);
}

/** @param {string} target */
function nameOf(target) {
  return `${REPOSITORY}-${target}:${TAGS[0]}`;
}

/**
 * One archive, in which images share the layers that they have in common.
 *
 * @param {Scope} scope
 */
async function writeArchive(scope) {
  const folder = join(CLUSTER, 'images');
  rmSync(folder, { recursive: true, force: true });
  makeFolder(folder);
  const names = [...TARGETS.map(nameOf), PAUSE_IMAGE, COMFYUI_IMAGE];
  for (const name of names)
    await buildah(scope, ['push', '--quiet', '--disable-compression', name, `oci:${folder}:${name}`]);
  const index = join(folder, 'index.json');
  const { manifests, ...rest } = /** @type {{ manifests: { annotations: Record<string, string> }[] }} */ (
    readJson(index)
  );
  // By this name containerd knows an image; the name that the archive's own format has, it takes for a tag.
  const named = manifests.map((one) => {
    const name = one.annotations['org.opencontainers.image.ref.name'] ?? '';
    return { ...one, annotations: { 'io.containerd.image.name': name } };
  });
  writeWhole(index, JSON.stringify({ ...rest, manifests: named }));
  await must(scope, 'tar', ['-C', folder, '-cf', ARCHIVE, '.'], 'tar');
  rmSync(folder, { recursive: true, force: true });
}
