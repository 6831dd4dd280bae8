import { Failure, say, task } from '../command/index.mjs';
import { namespaceOf } from './chart-objects.mjs';
import { until } from './client.mjs';
import { noteFound } from './figures.mjs';
import { CHART, NAMESPACE, RELEASE } from './helm.mjs';
import { TAGS } from './images.mjs';
import { InstalledService, SMALL_GRAPH } from './service.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {import('./client.mjs').Client} Client */
/** @typedef {import('./client.mjs').KubernetesObject} KubernetesObject */
/** @typedef {import('./helm.mjs').Helm} Helm */
/** @typedef {import('./servers.mjs').Servers} Servers */
/** @typedef {{ scope: Scope, client: Client, helm: Helm, servers: Servers }} Site what a release is installed on */

const WAIT = ['--wait', '--timeout', '5m'];
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
/** Kinds that a release may leave behind. Events, and what Kubernetes puts into every namespace, are not of it. */
const KINDS = [
  ['/api/v1', ['pods', 'services', 'configmaps', 'secrets', 'serviceaccounts', 'persistentvolumeclaims', 'endpoints']],
  ['/apis/apps/v1', ['deployments', 'replicasets', 'statefulsets']],
  ['/apis/batch/v1', ['jobs', 'cronjobs']],
  ['/apis/policy/v1', ['poddisruptionbudgets']],
  ['/apis/networking.k8s.io/v1', ['networkpolicies', 'ingresses']],
  ['/apis/rbac.authorization.k8s.io/v1', ['roles', 'rolebindings']],
  ['/apis/autoscaling/v2', ['horizontalpodautoscalers']],
];

/**
 * Install the chart with real Helm under the pod security standard `restricted`: the migration hook first, then the pods.
 *
 * @param {Site} site
 * @returns {Promise<InstalledService>}
 */
export async function install({ scope, client, helm, servers }) {
  await task(scope, 'Making the namespace and its Secrets', async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await client.apply(`/api/v1/namespaces/${NAMESPACE}`, namespaceOf(NAMESPACE, labels));
    const { secretKey, adminToken } = servers.secrets;
    await secret(client, 'millrace-secrets', { 'secret-key': secretKey, 'admin-token': adminToken });
    await secret(client, 'millrace-postgres', { url: servers.databaseUrl });
    await secret(client, 'millrace-redis', { url: servers.redisUrl });
    const { accessKeyId, secretAccessKey } = servers.s3;
    await secret(client, 'millrace-s3', { 'access-key-id': accessKeyId, 'secret-access-key': secretAccessKey });
  });
  helm.writeValues(servers);
  await task(scope, 'helm install, with the migration hook', () =>
    explained(client, () => helm.run(['install', RELEASE, CHART, '--values', helm.values, ...WAIT])),
  );
  await task(scope, 'helm test', () => helm.run(['test', RELEASE, '--timeout', '5m']));
  return task(scope, 'Making an account, and running a job', async () => {
    const service = await InstalledService.find(scope, client, servers.secrets.adminToken);
    const { id } = await service.submit(SMALL_GRAPH);
    await service.reaches(id, 'succeeded');
    return service;
  });
}

/**
 * @param {Client} client
 * @param {string} name
 * @param {Record<string, string>} stringData
 */
function secret(client, name, stringData) {
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: NAMESPACE }, stringData };
  return client.apply(`/api/v1/namespaces/${NAMESPACE}/secrets/${name}`, object);
}

/**
 * Upgrade to other images and roll back, while a client submits and reads: no request may fail.
 *
 * @param {Site} site
 * @param {InstalledService} service
 */
export async function upgradeAndRollBack({ scope, client, helm }, service) {
  const [first, second] = TAGS;
  const upgrade = ['upgrade', RELEASE, CHART, '--values', helm.values, '--set', `image.tag=${second}`, ...WAIT];
  await task(scope, 'helm upgrade, under requests', async () => {
    await underRequests(scope, service, 'the upgrade', () => explained(client, () => helm.run(upgrade)));
    await onlyImages(scope, client, second);
  });
  await task(scope, 'helm rollback, under requests', async () => {
    const rollback = ['rollback', RELEASE, '1', ...WAIT];
    await underRequests(scope, service, 'the rollback', () => explained(client, () => helm.run(rollback)));
    await onlyImages(scope, client, first);
  });
  await task(scope, 'Running a job after that', async () => {
    const { id } = await service.submit(SMALL_GRAPH);
    await service.reaches(id, 'succeeded');
  });
}

/**
 * @param {Scope} scope
 * @param {InstalledService} service
 * @param {string} during what it is
 * @param {() => Promise<unknown>} work
 */
async function underRequests(scope, service, during, work) {
  const { id } = await service.submit(SMALL_GRAPH);
  let [sent, isDone] = [0, false];
  /** @type {string[]} */
  const failures = [];
  const start = Date.now();
  const send = async () => {
    while (!isDone && !scope.signal.aborted) {
      sent += 1;
      const [began, isSubmission] = [Date.now(), sent % 10 === 0];
      await (isSubmission ? service.submit(SMALL_GRAPH) : service.job(id)).catch((/** @type {Error} */ error) =>
        failures.push(`${seconds(began - start)} to ${seconds(Date.now() - start)} s: ${error.message}`),
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const sending = send();
  await work().finally(() => (isDone = true));
  await sending;
  say(`    ${sent - failures.length} of ${sent} requests were answered`);
  noteFound(`requests answered during ${during}`, `${sent - failures.length} of ${sent}`);
  if (failures.length > 0)
    throw new Failure(`${failures.length} of ${sent} requests failed:\n${failures.slice(0, 20).join('\n')}`);
}

/** @param {number} ms */
function seconds(ms) {
  return (ms / 1_000).toFixed(1);
}

/**
 * @param {Scope} scope
 * @param {Client} client
 * @param {string} tag
 */
async function onlyImages(scope, client, tag) {
  await until(scope, `All pods to have the images ${tag}`, async () => {
    const pods = (await client.list(PODS)).filter(({ metadata }) => !metadata.deletionTimestamp);
    // Not the hooks, which have ended and stay to be read.
    const own = pods.filter(({ status }) => status?.phase === 'Running');
    const images = own
      .flatMap(({ spec }) => (spec?.containers ?? []).map(({ image }) => image))
      .filter((image) => image.includes('/millrace-'));
    return images.length > 0 && images.every((image) => image.endsWith(`:${tag}`));
  });
}

/**
 * Uninstall, and look for anything that is left in the namespace.
 *
 * @param {Site} site
 */
export async function uninstall({ scope, client, helm }) {
  await task(scope, 'helm uninstall, and looking for what is left', async () => {
    await helm.run(['uninstall', RELEASE, '--wait', '--timeout', '5m']);
    say(`    left by hooks, as Helm does, and deleted: ${(await deleteHooks(client)).join(', ')}`);
    await until(
      scope,
      'Everything of the release to be gone',
      async () => {
        const left = await leftIn(client);
        if (left.length > 0) throw new Failure(`there is ${left.join(', ')}`);
        return true;
      },
      180_000,
    );
  });
}

/**
 * The migration's Job and the tests stay to be read after their end: hooks do not belong to the release, and Helm does not remove
 * them with it.
 *
 * @param {Client} client
 * @returns {Promise<string[]>} what was deleted
 */
async function deleteHooks(client) {
  const deleted = [];
  for (const path of [PODS, CONFIG_MAPS, JOBS]) {
    for (const { metadata } of await client.list(path)) {
      if (!metadata.annotations?.['helm.sh/hook']) continue;
      await client.delete(`${path}/${metadata.name}`, { propagationPolicy: 'Background' });
      deleted.push(metadata.name);
    }
  }
  return deleted;
}

/** @param {Client} client */
async function leftIn(client) {
  const own = ['millrace-secrets', 'millrace-postgres', 'millrace-redis', 'millrace-s3', 'default', 'kube-root-ca.crt'];
  const left = [];
  for (const [base, names] of KINDS) {
    for (const name of /** @type {string[]} */ (names)) {
      const found = await client.list(`${String(base)}/namespaces/${NAMESPACE}/${name}`);
      left.push(
        ...found
          .filter(({ metadata }) => !own.includes(metadata.name))
          .map(({ metadata }) => `${name}/${metadata.name}`),
      );
    }
  }
  return left;
}

/**
 * When Helm gives up, what the pods say.
 *
 * @template T
 * @param {Client} client
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function explained(client, work) {
  try {
    return await work();
  } catch (error) {
    for (const { metadata, status } of await client.list(PODS)) {
      const waiting = (status?.containerStatuses ?? [])
        .filter(({ ready }) => !ready)
        .map(({ name, state }) => `${name} ${JSON.stringify(state)}`);
      const reasons = (status?.conditions ?? []).flatMap(({ message }) => message ?? []);
      if (waiting.length > 0) say(`    ${metadata.name}: ${waiting.join('; ')} ${reasons.join('; ')}`);
    }
    throw error;
  }
}
