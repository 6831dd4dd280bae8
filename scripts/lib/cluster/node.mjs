import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { task } from '../command/index.mjs';
import { makeFolder, readJson, runTool, writeJson, writeWhole } from '../system/index.mjs';
import { must } from './base-image.mjs';
import { until } from './client.mjs';
import { start } from './control-plane.mjs';
import { ARCHIVE, PAUSE_IMAGE, REPOSITORY, TAGS, imagesDigest } from './images.mjs';
import { CNI_PLUGINS, systemProgram } from './needs.mjs';
import { BRIDGE, CGROUP, CLUSTER, NODE_ADDRESS, NODE_NAME, POD_RANGE, PROGRAMS } from './places.mjs';

/** @typedef {import('../services/fleet.mjs').Fleet} Fleet */
/** @typedef {import('./control-plane.mjs').ControlPlane} ControlPlane */

const SOCKET = '/run/containerd/containerd.sock';
const CONTROL_GROUPS = '/sys/fs/cgroup';
/** Images stay from one run to the next. */
const CONTAINERD_ROOT = join(CLUSTER, 'containerd');
const IMPORTED = join(CLUSTER, 'containerd.digest');

/**
 * Make this machine the node of the cluster: scheduler, containerd, kubelet, kube-proxy, CoreDNS.
 *
 * @param {Fleet} fleet
 * @param {ControlPlane} plane
 */
export async function startNode(fleet, plane) {
  const { scope } = fleet;
  await task(scope, 'Starting containerd', () => startContainerd(fleet));
  const imported = /** @type {{ digest?: string } | undefined} */ (readJson(IMPORTED))?.digest;
  const digest = imagesDigest();
  if (imported !== digest) {
    await task(scope, 'Loading the images', () => loadImages(fleet));
    writeJson(IMPORTED, { digest });
  }
  await task(scope, 'Starting scheduler, kubelet, kube-proxy and CoreDNS', async () => {
    const flags = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'];
    const scheduler = [...flags.map((flag) => `--${flag}=${plane.kubeconfig}`), '--leader-elect=false'];
    await start(fleet, 'kube-scheduler', [join(PROGRAMS, 'kube-scheduler'), ...scheduler]);
    await startKubelet(fleet, plane);
    await startProxy(fleet, plane);
    await startDns(fleet, plane);
    await until(scope, 'The node to be ready', async () => {
      const { status } = await plane.client.get(`/api/v1/nodes/${NODE_NAME}`);
      return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
    });
  });
}

/** @param {Fleet} fleet */
async function startContainerd(fleet) {
  const folder = fleet.folder.at('containerd');
  const network = join(folder, 'net.d');
  for (const path of [folder, network, CONTAINERD_ROOT]) makeFolder(path);
  const range = { subnet: POD_RANGE, rangeStart: NODE_ADDRESS.replace(/\d+$/, '10'), gateway: NODE_ADDRESS };
  const ipam = { type: 'host-local', ranges: [[range]], routes: [{ dst: '0.0.0.0/0' }], dataDir: '/run/cni-networks' };
  const bridge = { type: 'bridge', bridge: BRIDGE, isGateway: true, hairpinMode: true, ipam };
  const plugins = [bridge, { type: 'portmap', capabilities: { portMappings: true } }];
  writeJson(join(network, '10-pods.conflist'), { cniVersion: '1.0.0', name: 'pods', plugins });
  const config = join(folder, 'config.toml');
  writeWhole(config, containerdConfig(network));
  await start(fleet, 'containerd', [systemProgram('containerd'), '--config', config], () => answers(fleet));
  await removeLeftovers(fleet, config);
}

/** @param {Fleet} fleet */
async function answers(fleet) {
  const { code } = await runTool(fleet.scope, systemProgram('ctr'), ['-a', SOCKET, 'version']);
  return code === 0;
}

/** @param {string} network */
function containerdConfig(network) {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = "${CONTAINERD_ROOT}"
state = "/run/containerd"
[grpc]
  address = "${SOCKET}"
[plugins."io.containerd.internal.v1.opt"]
  path = "/run/containerd/opt"
[${cri}]
  sandbox_image = "${PAUSE_IMAGE}"
  restrict_oom_score_adj = true
[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
  SystemdCgroup = false
[${cri}.cni]
  bin_dir = "${CNI_PLUGINS}"
  conf_dir = "${network}"
`;
}

/**
 * Containers of a run that was killed: their processes ended with their namespace, their records did not.
 *
 * @param {Fleet} fleet
 * @param {string} config
 */
async function removeLeftovers(fleet, config) {
  const ids = (await ctr(fleet, ['containers', 'list', '--quiet'])).split('\n').filter(Boolean);
  if (ids.length === 0) return;
  await ctr(fleet, ['containers', 'delete', ...ids]);
  const service = fleet.services.find(({ spec }) => spec.commandLine.includes(config));
  if (service) await fleet.restart([service]);
}

/** @param {Fleet} fleet */
async function loadImages(fleet) {
  await ctr(fleet, ['images', 'import', ARCHIVE]);
  const names = (await ctr(fleet, ['images', 'list', '--quiet']))
    .split('\n')
    .filter((name) => name.startsWith(REPOSITORY));
  for (const name of names.filter((one) => one.endsWith(`:${TAGS[0]}`))) {
    await ctr(fleet, ['images', 'tag', '--force', name, name.replace(`:${TAGS[0]}`, `:${TAGS[1]}`)]);
  }
}

/**
 * @param {Fleet} fleet
 * @param {string[]} args
 */
function ctr(fleet, args) {
  return must(
    fleet.scope,
    systemProgram('ctr'),
    ['-a', SOCKET, '-n', 'k8s.io', ...args],
    `ctr ${args.slice(0, 2).join(' ')}`,
  );
}

/**
 * @param {Fleet} fleet
 * @param {ControlPlane} plane
 */
async function startKubelet(fleet, { kubeconfig }) {
  const root = fleet.folder.at('kubelet');
  makeFolder(root);
  // What pods mount below it must be seen by their containers.
  await must(fleet.scope, systemProgram('mount'), ['--bind', root, root], 'mount');
  await must(fleet.scope, systemProgram('mount'), ['--make-rshared', root], 'mount');
  makeControlGroups();
  const resolv = fleet.folder.at('resolv.conf');
  writeWhole(resolv, `nameserver ${NODE_ADDRESS}\n`);
  const config = fleet.folder.at('kubelet.json');
  writeJson(config, {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: NODE_ADDRESS,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${CGROUP}`,
    failCgroupV1: false,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    clusterDNS: [NODE_ADDRESS],
    clusterDomain: 'cluster.local',
    resolvConf: resolv,
    containerRuntimeEndpoint: `unix://${SOCKET}`,
    // The disk is the machine's, and full of other things.
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    makeIPTablesUtilChains: false,
    healthzBindAddress: '127.0.0.1',
    volumePluginDir: fleet.folder.at('volume-plugins'),
  });
  const flags = [`--config=${config}`, `--kubeconfig=${kubeconfig}`, `--root-dir=${root}`, `--cert-dir=${root}/pki`];
  const own = [`--hostname-override=${NODE_NAME}`, `--node-ip=${NODE_ADDRESS}`];
  await start(fleet, 'kubelet', [join(PROGRAMS, 'kubelet'), ...flags, ...own]);
}

/** One below each controller, so that all that kubelet makes can be found again and removed. */
function makeControlGroups() {
  const isUnified = existsSync(join(CONTROL_GROUPS, 'cgroup.controllers'));
  const roots = isUnified ? [CONTROL_GROUPS] : readdirSync(CONTROL_GROUPS).map((name) => join(CONTROL_GROUPS, name));
  for (const root of roots) {
    const group = join(root, CGROUP);
    mkdirSync(group, { recursive: true });
    for (const name of ['cpuset.cpus', 'cpuset.mems']) {
      if (!isUnified && existsSync(join(group, name))) writeFileSync(join(group, name), readFileSync(join(root, name)));
    }
  }
}

/**
 * @param {Fleet} fleet
 * @param {ControlPlane} plane
 */
async function startProxy(fleet, { kubeconfig }) {
  const config = fleet.folder.at('kube-proxy.json');
  writeJson(config, {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig },
    mode: 'iptables',
    clusterCIDR: POD_RANGE,
    hostnameOverride: NODE_NAME,
    conntrack: { maxPerCore: 0, min: 0 },
    // Pods are on one bridge: what is answered without coming back through the node would not be recognised.
    iptables: { masqueradeAll: true, minSyncPeriod: '200ms' },
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
  });
  await start(fleet, 'kube-proxy', [join(PROGRAMS, 'kube-proxy'), `--config=${config}`]);
}

/**
 * @param {Fleet} fleet
 * @param {ControlPlane} plane
 */
async function startDns(fleet, { kubeconfig }) {
  const config = fleet.folder.at('Corefile');
  const zones = `kubernetes cluster.local {\n    kubeconfig ${kubeconfig}\n  }`;
  writeWhole(config, `.:53 {\n  bind ${NODE_ADDRESS}\n  errors\n  ready 127.0.0.1:8181\n  ${zones}\n}\n`);
  await start(fleet, 'coredns', [join(PROGRAMS, 'coredns'), '-conf', config], async () => {
    const answer = await fetch('http://127.0.0.1:8181/ready').catch(() => null);
    return answer?.ok === true;
  });
}
