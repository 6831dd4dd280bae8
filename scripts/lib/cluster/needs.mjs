import { existsSync } from 'node:fs';
import process from 'node:process';
import { Failure, task } from '../command/index.mjs';
import { findProgram, runTool } from '../system/index.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */

/** Plugins that no PATH has. */
export const CNI_PLUGINS = '/usr/lib/cni';
/** Programs of the system, each with the Debian package that has it. */
const API_SERVER_NEEDS = {
  unshare: 'util-linux',
  mount: 'mount',
  ip: 'iproute2',
  etcd: 'etcd-server',
};
const CLUSTER_NEEDS = {
  buildah: 'buildah',
  debootstrap: 'debootstrap',
  containerd: 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  iptables: 'iptables',
  conntrack: 'conntrack',
  ipset: 'ipset',
  newuidmap: 'uidmap',
  [`${CNI_PLUGINS}/bridge`]: 'containernetworking-plugins',
};
const PLACES = ['/usr/sbin', '/sbin', '/usr/local/sbin'];
const GO_PLACES = ['/usr/local/go/bin', '/usr/lib/go/bin'];

/**
 * What is asked of a machine. `has`: whether a program, or a file by its path, is there.
 *
 * @typedef {{ platform: string, arch: string, uid: number | undefined, has: (name: string) => boolean }} Machine
 */

/** @returns {Machine} */
function thisMachine() {
  const { platform, arch } = process;
  const has = (/** @type {string} */ name) =>
    name.startsWith('/') ? existsSync(name) : findProgram([name], [...PLACES, ...GO_PLACES]) !== undefined;
  return { platform, arch, uid: process.getuid?.(), has };
}

/**
 * Check that this machine can run what was asked for.
 *
 * @param {Scope} scope
 * @param {{ whole: boolean, install: boolean }} options `whole`: with nodes and pods. `install`: what is missing of Debian's
 *   packages is installed
 * @param {Machine} [machine]
 * @throws {Failure} naming all that is missing, and how to have it
 */
export async function assertMachine(scope, { whole, install }, machine = thisMachine()) {
  const { platform, arch, uid, has } = machine;
  if (platform !== 'linux' || arch !== 'x64') {
    throw new Failure(`A cluster is run on Linux on x64; this is ${platform} on ${arch}.`);
  }
  if (uid !== 0) {
    throw new Failure('A cluster needs root, for its namespaces, mounts and containers: run the command as root.');
  }
  if (!has('go')) throw new Failure('Go was not found, with which Kubernetes is built: install Go 1.24 or newer.');
  const missing = missingPackages(whole, has);
  if (missing.length === 0) return;
  const line = `apt-get install --no-install-recommends ${missing.join(' ')}`;
  if (!install || !has('/etc/debian_version')) {
    throw new Failure(
      `The cluster's programs are not all there: run «${line}» on Debian 12, or this command with --install.`,
    );
  }
  await task(scope, `Installing ${missing.join(' ')}`, () => installPackages(scope, missing));
  const still = missingPackages(whole, has);
  if (still.length > 0) throw new Failure(`${still.join(', ')} could not be installed: run «${line}» and read why.`);
}

/**
 * @param {boolean} whole
 * @param {Machine['has']} has
 * @returns {string[]}
 */
function missingPackages(whole, has) {
  const needs = Object.entries({ ...API_SERVER_NEEDS, ...(whole ? CLUSTER_NEEDS : {}) });
  return [...new Set(needs.filter(([name]) => !has(name)).map(([, debian]) => debian))];
}

/**
 * @param {Scope} scope
 * @param {string[]} names
 */
async function installPackages(scope, names) {
  // Nothing that is installed begins to serve: outside of a runlevel no service is started.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C', RUNLEVEL: '1' };
  const wait = ['-q', '-o', 'DPkg::Lock::Timeout=300'];
  const args = ['install', ...wait, '-y', '--no-install-recommends', ...names];
  if ((await runTool(scope, 'apt-get', args, { env, unbroken: true })).code === 0) return;
  await runTool(scope, 'apt-get', ['update', ...wait], { env });
  await runTool(scope, 'apt-get', args, { env, unbroken: true });
}

/**
 * @param {string} name
 * @returns {string}
 */
export function systemProgram(name) {
  const found = findProgram([name], [...PLACES, ...GO_PLACES]);
  if (found) return found;
  throw new Failure(`${name} was not found: install it with the package manager of the system.`);
}
