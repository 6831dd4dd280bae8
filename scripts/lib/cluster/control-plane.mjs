import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { task } from '../command/index.mjs';
import { makeFolder, writeJson, writeWhole } from '../system/index.mjs';
import { Client, until } from './client.mjs';
import { systemProgram } from './needs.mjs';
import { ADMIN_TOKEN, API_PORT, ETCD_PORT, NODE_ADDRESS, PROGRAMS, SERVICE_RANGE } from './places.mjs';

/** @typedef {import('../services/fleet.mjs').Fleet} Fleet */
/** @typedef {{ url: string, token: string, caFile: string, kubeconfig: string, client: Client }} ControlPlane */

/** @type {import('../system/processes.mjs').StopStep[]} */
const STOP = [{ signal: 'SIGKILL', waitMs: 5_000 }];

/**
 * Start etcd, the API server and the controllers: enough for everything that is objects only.
 *
 * @param {Fleet} fleet
 * @returns {Promise<ControlPlane>}
 */
export async function startControlPlane(fleet) {
  return task(fleet.scope, 'Starting etcd, the API server and the controllers', async () => {
    await startEtcd(fleet);
    const plane = await startApiServer(fleet);
    await startControllers(fleet, plane);
    await until(fleet.scope, 'The service account of the namespace default', () =>
      plane.client.get('/api/v1/namespaces/default/serviceaccounts/default'),
    );
    return plane;
  });
}

/** @param {Fleet} fleet */
async function startEtcd(fleet) {
  const url = `http://127.0.0.1:${ETCD_PORT}`;
  const peers = `http://127.0.0.1:${ETCD_PORT + 1}`;
  const flags = [
    `--data-dir=${fleet.folder.at('etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peers}`,
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=default=${peers}`,
    // Nobody needs its data after a crash of the machine.
    '--unsafe-no-fsync',
  ];
  await start(fleet, 'etcd', [systemProgram('etcd'), ...flags], async () => {
    const answer = await fetch(`${url}/health`).catch(() => null);
    return answer?.ok === true && (await answer.text()).includes('true');
  });
}

/**
 * It makes itself a certificate for its address, for the Service `kubernetes` and for the names of that.
 *
 * @param {Fleet} fleet
 * @returns {Promise<ControlPlane>}
 */
async function startApiServer(fleet) {
  const folder = fleet.folder.at('kubernetes');
  makeFolder(folder, 0o700);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  writeWhole(join(folder, 'accounts.key'), privateKey, 0o600);
  writeWhole(join(folder, 'accounts.pub'), publicKey);
  writeWhole(join(folder, 'tokens.csv'), `${ADMIN_TOKEN},admin,admin,"system:masters"\n`, 0o600);
  const url = `https://${NODE_ADDRESS}:${API_PORT}`;
  const caFile = join(folder, 'apiserver.crt');
  const flags = [
    `--etcd-servers=http://127.0.0.1:${ETCD_PORT}`,
    `--bind-address=${NODE_ADDRESS}`,
    `--advertise-address=${NODE_ADDRESS}`,
    `--secure-port=${API_PORT}`,
    `--cert-dir=${folder}`,
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${join(folder, 'accounts.pub')}`,
    `--service-account-signing-key-file=${join(folder, 'accounts.key')}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=Node,RBAC',
    '--allow-privileged=true',
    '--kubelet-preferred-address-types=InternalIP',
    '--profiling=false',
  ];
  const access = { url, token: ADMIN_TOKEN, caFile };
  await start(fleet, 'kube-apiserver', [join(PROGRAMS, 'kube-apiserver'), ...flags], async () => {
    try {
      // It writes its certificate as it starts.
      return (await new Client(access).send('GET', '/readyz')) === 'ok';
    } catch {
      return false;
    }
  });
  const kubeconfig = join(folder, 'kubeconfig.json');
  writeJson(kubeconfig, kubeconfigOf(access), 0o600);
  return { ...access, kubeconfig, client: new Client(access) };
}

/** @param {{ url: string, token: string, caFile: string }} access */
function kubeconfigOf({ url, token, caFile }) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority': caFile } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  };
}

/**
 * @param {Fleet} fleet
 * @param {ControlPlane} plane
 */
async function startControllers(fleet, { kubeconfig, caFile }) {
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--service-account-private-key-file=${fleet.folder.at('kubernetes', 'accounts.key')}`,
    `--root-ca-file=${caFile}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--cert-dir=${fleet.folder.at('kubernetes')}`,
  ];
  await start(fleet, 'kube-controller-manager', [join(PROGRAMS, 'kube-controller-manager'), ...flags]);
}

/**
 * Start a program of the cluster, watched, and started again when it dies.
 *
 * @param {Fleet} fleet
 * @param {string} name
 * @param {string[]} commandLine
 * @param {() => Promise<boolean>} [isReady]
 */
export async function start(fleet, name, commandLine, isReady = async () => true) {
  const logFile = fleet.folder.log(name);
  await fleet.start([{ role: name, name, commandLine, logFile, isReady, stopSteps: STOP }]);
}
