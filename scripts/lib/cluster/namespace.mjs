import { chmodSync, existsSync, readFileSync, readdirSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Failure } from '../command/index.mjs';
import { claimFolder } from '../services/index.mjs';
import { runTool } from '../system/index.mjs';
import { systemProgram } from './needs.mjs';
import { CGROUP, RUN } from './places.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */

const INSIDE = fileURLToPath(new URL('inside.mjs', import.meta.url));
const CONTROL_GROUPS = '/sys/fs/cgroup';
const REMOVALS = 50;
const REMOVAL_PAUSE_MS = 100;

/**
 * What the machine has before and after: a run must leave it as it was.
 *
 * @typedef {{ mounts: string[], links: string[], chains: string, groups: string[] }} Traces
 */

/**
 * Run the cluster in namespaces of its own for processes, mounts and the network: with the first process of them everything ends that
 * was started in them, the containers too, and bridges, addresses, chains and mounts are gone. So it also is when this process is
 * killed. Only control groups and files lie outside; they are removed here.
 *
 * @param {Scope} scope
 * @param {string[]} args of inside.mjs
 * @returns {Promise<number>} its exit code
 * @throws {Failure} when something is left
 */
export async function runInside(scope, args) {
  await removeControlGroups(scope);
  const before = await traces(scope);
  const code = await scope.within(async (own) => {
    own.defer(() => removeControlGroups(scope));
    own.defer(() => rmSync(RUN, { recursive: true, force: true, maxRetries: 3 }));
    const folder = await claimFolder(own, RUN);
    rmSync(folder.at('data'), { recursive: true, force: true });
    // PostgreSQL, which runs as another user, must pass through.
    chmodSync(RUN, 0o755);
    const flags = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private'];
    // The shell is the first process there: it takes in those whose parents have ended, which Node.js does not.
    const shell = ['bash', '-c', '"$@"; exit $?', 'inside', process.execPath, INSIDE, folder.at('data'), ...args];
    const ended = await runTool(own, systemProgram('unshare'), [...flags, ...shell], { show: true });
    return ended.code ?? 1;
  });
  const left = difference(before, await traces(scope));
  if (left.length > 0) throw new Failure(`The cluster has left behind: ${left.join(', ')}.`);
  return code;
}

/**
 * @param {Scope} scope
 * @returns {Promise<Traces>}
 */
async function traces(scope) {
  const links = await runTool(scope, systemProgram('ip'), ['-brief', 'link']);
  const chains = await runTool(scope, 'sh', ['-c', 'iptables-save 2>/dev/null | grep "^:" | cut -d" " -f1 || true']);
  return {
    mounts: readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[1] ?? ''),
    links: links.output.split('\n').map((line) => line.split(/[\s@]/)[0] ?? ''),
    chains: chains.output,
    groups: controlGroups(),
  };
}

/**
 * What was not there before and is of a cluster: others may mount and connect meanwhile.
 *
 * @param {Traces} before
 * @param {Traces} after
 */
function difference(before, after) {
  const isNew = (/** @type {string[]} */ known) => (/** @type {string} */ one) => !known.includes(one);
  const chains = after.chains.split('\n').filter(isNew(before.chains.split('\n')));
  return [
    ...after.mounts
      .filter(isNew(before.mounts))
      .filter((path) => /kubelet|containerd|tools\/cluster|netns\/cni/.test(path)),
    ...after.links.filter(isNew(before.links)).filter((name) => /^(?:mill0|veth)/.test(name)),
    ...chains.filter((chain) => /KUBE-|CNI-/.test(chain)),
    ...after.groups,
  ];
}

/** Control groups of a cluster, the innermost first. */
function controlGroups() {
  if (!existsSync(CONTROL_GROUPS)) return [];
  const roots = [CONTROL_GROUPS, ...readdirSync(CONTROL_GROUPS).map((name) => join(CONTROL_GROUPS, name))];
  return roots
    .map((root) => join(root, CGROUP))
    .filter(existsSync)
    .flatMap(withinGroup);
}

/**
 * @param {string} group
 * @returns {string[]}
 */
function withinGroup(group) {
  const inner = readdirSync(group, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...inner.flatMap(({ name }) => withinGroup(join(group, name))), group];
}

/**
 * A group goes when its last process has gone, which the kernel may see to a moment after it was killed.
 *
 * @param {Scope} scope
 */
async function removeControlGroups(scope) {
  for (let time = 0; time < REMOVALS; time += 1) {
    let busy = false;
    for (const group of controlGroups()) {
      try {
        rmdirSync(group);
      } catch {
        busy = true;
      }
    }
    if (!busy) return;
    await new Promise((resolve) => setTimeout(resolve, REMOVAL_PAUSE_MS));
  }
  if (!scope.signal.aborted) throw new Failure(`Control groups ${CGROUP} of an earlier cluster are still in use.`);
}
