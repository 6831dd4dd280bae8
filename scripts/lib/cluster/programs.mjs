import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure, systemSentenceIn, task } from '../command/index.mjs';
import { makeFolder, parseJson, runTool, writeWhole } from '../system/index.mjs';
import { systemProgram } from './needs.mjs';
import { CLUSTER, COREDNS_VERSION, KUBERNETES_VERSION, PROGRAMS } from './places.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {{ name: string, module: string, version: string, package: string, flags?: string, replace?: boolean }} GoProgram */

const KUBERNETES = 'k8s.io/kubernetes';
const [MAJOR, MINOR] = KUBERNETES_VERSION.split('.');
const STAMP = {
  gitVersion: `v${KUBERNETES_VERSION}`,
  gitMajor: MAJOR,
  gitMinor: MINOR,
  gitTreeState: 'clean',
};
const STAMP_FLAGS = Object.entries(STAMP)
  .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
  .join(' ');

/**
 * @param {string} name
 * @returns {GoProgram}
 */
function kubernetes(name) {
  const version = `v${KUBERNETES_VERSION}`;
  return { name, module: KUBERNETES, version, package: `${KUBERNETES}/cmd/${name}`, flags: STAMP_FLAGS, replace: true };
}

const API_SERVER = [kubernetes('kube-apiserver'), kubernetes('kube-controller-manager')];
const NODE = [kubernetes('kube-scheduler'), kubernetes('kubelet'), kubernetes('kube-proxy')];
const COREDNS = 'github.com/coredns/coredns';
/** @type {GoProgram} */
const DNS = { name: 'coredns', module: COREDNS, version: `v${COREDNS_VERSION}`, package: COREDNS };

/** The container that holds the namespaces of a pod. */
const PAUSE = `package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	<-stop
}
`;

/**
 * Build the programs of Kubernetes that are not there yet. All of them take about forty minutes of one processor, once.
 *
 * @param {Scope} scope
 * @param {boolean} whole with those of a node
 */
export async function buildPrograms(scope, whole) {
  const wanted = whole ? [...API_SERVER, ...NODE, DNS] : API_SERVER;
  const missing = wanted.filter(({ name }) => !existsSync(join(PROGRAMS, name)));
  makeFolder(PROGRAMS);
  if (missing.length > 0) {
    // Its packages are many, and nobody else builds with them.
    const cache = join(CLUSTER, 'go-build');
    try {
      for (const program of missing) {
        await task(scope, `Building ${program.name} ${program.version}`, () => buildModule(scope, program, cache));
      }
    } finally {
      if (wanted.every(({ name }) => existsSync(join(PROGRAMS, name)))) {
        rmSync(cache, { recursive: true, force: true });
      }
    }
  }
  if (whole && !existsSync(join(PROGRAMS, 'pause'))) await buildPause(scope);
}

/**
 * @param {Scope} scope
 * @param {GoProgram} program
 * @param {string} cache
 */
async function buildModule(scope, program, cache) {
  const folder = join(CLUSTER, 'build', program.name);
  makeFolder(folder);
  const lines = ['module cluster.local/build', '', 'go 1.24.0', '', `require ${program.module} ${program.version}`];
  if (program.replace) lines.push('', ...(await replacements(scope, program, folder)));
  writeWhole(join(folder, 'go.mod'), `${lines.join('\n')}\n`);
  const aside = join(folder, program.name);
  const flags = ['-p', '2', '-trimpath', '-ldflags', `-s -w ${program.flags ?? ''}`];
  await go(scope, ['build', ...flags, '-o', aside, program.package], { folder, cache, what: program.name });
  renameSync(aside, join(PROGRAMS, program.name));
  rmSync(folder, { recursive: true, force: true });
}

/**
 * The modules that Kubernetes has in its own tree, each as it is published beside it.
 *
 * @param {Scope} scope
 * @param {GoProgram} program
 * @param {string} folder
 */
async function replacements(scope, { module, version, name }, folder) {
  const output = await go(scope, ['mod', 'download', '-json', `${module}@${version}`], { folder, what: name });
  const { GoMod } = /** @type {{ GoMod: string }} */ (parseJson(output.slice(output.indexOf('{'))));
  const staged = readFileSync(GoMod, 'utf8').matchAll(/^\s+(k8s\.io\/\S+) => \.\/staging\//gm);
  const published = version.replace('v1.', 'v0.');
  return [...staged].map(([, path]) => `replace ${path} => ${path} ${published}`);
}

/** @param {Scope} scope */
async function buildPause(scope) {
  const folder = join(CLUSTER, 'build', 'pause');
  makeFolder(folder);
  writeWhole(join(folder, 'go.mod'), 'module cluster.local/pause\n\ngo 1.24.0\n');
  writeWhole(join(folder, 'main.go'), PAUSE);
  const place = join(PROGRAMS, 'pause');
  await task(scope, 'Building the pause container', () =>
    go(scope, ['build', '-trimpath', '-ldflags', '-s -w', '-o', place, '.'], { folder, what: 'pause' }),
  );
  rmSync(folder, { recursive: true, force: true });
}

/**
 * @param {Scope} scope
 * @param {string[]} args
 * @param {{ folder: string, cache?: string, what: string }} options
 * @returns {Promise<string>} what it printed
 */
async function go(scope, args, { folder, cache, what }) {
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod', ...(cache && { GOCACHE: cache }) };
  const { code, output } = await runTool(scope, 'nice', ['-n', '19', systemProgram('go'), ...args], {
    cwd: folder,
    env,
  });
  if (code === 0) return output;
  const reason = systemSentenceIn(output) ?? output.trim().split('\n').at(-1) ?? `go ended with code ${code}`;
  throw new Failure(`${what} could not be built (${reason}): a module proxy that has ${KUBERNETES} is needed.`);
}
