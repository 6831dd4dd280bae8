import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure, systemSentenceIn, task } from '../command/index.mjs';
import { makeFolder, parseJson, runTool, writeWhole } from '../system/index.mjs';
import { systemProgram } from './needs.mjs';
import { CLUSTER, COREDNS_VERSION, KUBERNETES_VERSION, PROGRAMS } from './places.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/**
 * A program of a published module, or one whose source is here. `requires`: modules with their versions, the first the one it is known
 * by. `staged`: that module has others in its own tree, which are taken as they are published.
 *
 * @typedef {{ name: string, requires: [string, string][], package: string, source?: string, flags?: string, staged?: boolean }} GoProgram
 */

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
  const requires = /** @type {GoProgram['requires']} */ ([[KUBERNETES, `v${KUBERNETES_VERSION}`]]);
  return { name, requires, package: `${KUBERNETES}/cmd/${name}`, flags: STAMP_FLAGS, staged: true };
}

const API_SERVER = [kubernetes('kube-apiserver'), kubernetes('kube-controller-manager')];
const NODE = [kubernetes('kube-scheduler'), kubernetes('kubelet'), kubernetes('kube-proxy')];
const PUBLISHED = KUBERNETES_VERSION.replace('1.', 'v0.');
const COREDNS = 'github.com/coredns/coredns';
/** CoreDNS with the plugins that are used here: most of the others are clients of clouds. */
const COREDNS_MAIN = `package main

import (
	"${COREDNS}/core/dnsserver"
	"${COREDNS}/coremain"
	_ "${COREDNS}/plugin/bind"
	_ "${COREDNS}/plugin/errors"
	_ "${COREDNS}/plugin/kubernetes"
	_ "${COREDNS}/plugin/ready"
)

func init() {
	dnsserver.Directives = []string{"bind", "ready", "errors", "kubernetes"}
}

func main() {
	coremain.Run()
}
`;
/** @type {GoProgram} */
const DNS = {
  name: 'coredns',
  requires: [
    [COREDNS, `v${COREDNS_VERSION}`],
    ['k8s.io/api', PUBLISHED],
    ['k8s.io/apimachinery', PUBLISHED],
    ['k8s.io/client-go', PUBLISHED],
  ],
  package: '.',
  source: COREDNS_MAIN,
};

const PAUSE_MAIN = `package main

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
 * The container that holds the namespaces of a pod.
 *
 * @type {GoProgram}
 */
const PAUSE = { name: 'pause', requires: [], package: '.', source: PAUSE_MAIN };

/**
 * Build the programs that are not there yet. All of them take about forty minutes of one processor, once.
 *
 * @param {Scope} scope
 * @param {boolean} whole with those of a node
 */
export async function buildPrograms(scope, whole) {
  const wanted = whole ? [...API_SERVER, ...NODE, DNS, PAUSE] : API_SERVER;
  const isMissing = (/** @type {GoProgram} */ { name }) => !existsSync(join(PROGRAMS, name));
  const missing = wanted.filter(isMissing);
  if (missing.length === 0) return;
  makeFolder(PROGRAMS);
  // Its packages are many, and nobody else builds with them; a build that was broken off goes on with them.
  const cache = join(CLUSTER, 'go-build');
  for (const program of missing) {
    const title = `Building ${program.name} ${program.requires[0]?.[1] ?? ''}`.trim();
    await task(scope, title, () => build(scope, program, cache));
  }
  rmSync(cache, { recursive: true, force: true });
}

/**
 * @param {Scope} scope
 * @param {GoProgram} program
 * @param {string} cache
 */
async function build(scope, program, cache) {
  const { name, requires, source, flags = '' } = program;
  const folder = join(CLUSTER, 'build', name);
  makeFolder(folder);
  const lines = [`module cluster.local/${name}`, 'go 1.24.0', ...requires.map((one) => `require ${one.join(' ')}`)];
  if (program.staged) lines.push(...(await replacements(scope, program, folder)));
  writeWhole(join(folder, 'go.mod'), `${lines.join('\n')}\n`);
  if (source !== undefined) writeWhole(join(folder, 'main.go'), source);
  const aside = join(folder, `${name}.built`);
  const options = ['-p', '2', '-trimpath', '-ldflags', `-s -w ${flags}`, '-o', aside];
  await go(scope, ['build', ...options, program.package], { folder, cache, name });
  renameSync(aside, join(PROGRAMS, name));
  rmSync(folder, { recursive: true, force: true });
}

/**
 * The modules that Kubernetes has in its own tree, each as it is published beside it.
 *
 * @param {Scope} scope
 * @param {GoProgram} program
 * @param {string} folder
 */
async function replacements(scope, { requires, name }, folder) {
  const [[module, version] = ['', '']] = requires;
  const output = await go(scope, ['mod', 'download', '-json', `${module}@${version}`], { folder, name });
  const { GoMod } = /** @type {{ GoMod: string }} */ (parseJson(output.slice(output.indexOf('{'))));
  const staged = readFileSync(GoMod, 'utf8').matchAll(/^\s+(k8s\.io\/\S+) => \.\/staging\//gm);
  return [...staged].map(([, path]) => `replace ${path} => ${path} ${PUBLISHED}`);
}

/**
 * @param {Scope} scope
 * @param {string[]} args
 * @param {{ folder: string, cache?: string, name: string }} options
 * @returns {Promise<string>} what it printed
 */
async function go(scope, args, { folder, cache, name }) {
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod', ...(cache && { GOCACHE: cache }) };
  const { code, output } = await runTool(scope, 'nice', ['-n', '19', systemProgram('go'), ...args], {
    cwd: folder,
    env,
  });
  if (code === 0) return output;
  const reason = systemSentenceIn(output) ?? output.trim().split('\n').at(-1) ?? `go ended with code ${code}`;
  throw new Failure(`${name} could not be built (${reason}): Go needs a module proxy that has ${KUBERNETES}.`);
}
