import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, say, task } from '../command/index.mjs';
import { parseJson } from '../system/index.mjs';
import { until } from './client.mjs';
import { CHART } from './helm.mjs';
import { KUBERNETES_VERSION } from './places.mjs';

/** @typedef {import('./client.mjs').Client} Client */
/** @typedef {import('./client.mjs').KubernetesObject} KubernetesObject */
/** @typedef {KubernetesObject & { apiVersion: string, kind: string }} Manifest */

const NAMESPACE = 'rendered';
/** Groups that Kubernetes has by itself end so, or have no dot. */
const OWN_GROUP = /^$|^[a-z]+$|\.k8s\.io$/;
const ALIEN = ['gateway.networking.k8s.io'];

/**
 * Ask the real API server what it would say to every object of the chart, of each of its value sets: strictly, so that a field which
 * no kind has is refused, and under the pod security standard `restricted`.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {Client} client
 * @param {import('./helm.mjs').Helm} helm
 * @throws {Failure} naming all that is refused
 */
export async function judgeObjects(scope, client, helm) {
  await task(scope, 'Asking the API server about the objects of the chart', async () => {
    const sets = readdirSync(join(CHART, 'ci'));
    const manifests = [];
    for (const set of sets) manifests.push(...(await render(helm, set)).map((manifest) => ({ set, manifest })));
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await client.apply(`/api/v1/namespaces/${NAMESPACE}`, namespaceOf(NAMESPACE, labels));
    await until(scope, 'Its service account', () =>
      client.get(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`),
    );
    const simulated = await defineAlienKinds(
      scope,
      client,
      manifests.map(({ manifest }) => manifest),
    );
    const refusals = [];
    for (const { set, manifest } of manifests) {
      const said = await judge(client, manifest);
      if (said !== undefined) refusals.push(`${set}: ${manifest.kind} ${manifest.metadata.name}: ${said}`);
    }
    await client.delete(`/api/v1/namespaces/${NAMESPACE}`);
    if (refusals.length > 0) throw new Failure(`The API server refuses objects of the chart: ${refusals.join('; ')}`);
    say(
      `    ${manifests.length} objects of ${sets.length} value sets; as objects without a schema: ${simulated.join(', ')}`,
    );
  });
}

/**
 * @param {string} name
 * @param {Record<string, string>} [labels]
 */
export function namespaceOf(name, labels = {}) {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

/**
 * @param {import('./helm.mjs').Helm} helm
 * @param {string} set
 * @returns {Promise<Manifest[]>}
 */
async function render(helm, set) {
  const values = ['--values', join(CHART, 'ci', set), '--kube-version', KUBERNETES_VERSION];
  const text = await helm.run(['template', 'rel', CHART, '--namespace', NAMESPACE, ...values]);
  // Not at the start: before set-up there are no packages.
  const { parseAllDocuments } = await import('yaml');
  return parseAllDocuments(text).flatMap((document) => {
    /** @type {unknown} */
    const read = document.toJS();
    const manifest = /** @type {Manifest | null} */ (read);
    return manifest === null ? [] : [manifest];
  });
}

/**
 * Define the kinds of KEDA, the Prometheus operator and the Gateway API, as far as the chart has them. Their schemas are not at hand,
 * so that any fields are admitted; the chart's own tests hold them to the types that these projects publish.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {Client} client
 * @param {Manifest[]} manifests
 * @returns {Promise<string[]>} their names
 */
async function defineAlienKinds(scope, client, manifests) {
  /** @type {Map<string, { group: string, version: string, kind: string }>} */
  const aliens = new Map();
  for (const { apiVersion, kind } of manifests) {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    if (OWN_GROUP.test(group) && !ALIEN.includes(group)) continue;
    aliens.set(kind, { group, version, kind });
  }
  for (const { group, version, kind } of aliens.values()) {
    const plural = `${kind.toLowerCase()}s`;
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const approved = { 'api-approved.kubernetes.io': 'unapproved, of a test' };
    const spec = {
      group,
      names: { kind, plural, singular: kind.toLowerCase() },
      scope: 'Namespaced',
      versions: [{ name: version, served: true, storage: true, schema }],
    };
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`;
    const metadata = { name: `${plural}.${group}`, annotations: approved };
    await client.apply(path, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata,
      spec,
    });
    await until(scope, `The kind ${kind}`, () => client.list(`/apis/${group}/${version}/${plural}`));
  }
  return [...aliens.keys()];
}

/** @type {Map<string, { kind: string, name: string, namespaced: boolean }[]>} */
const resources = new Map();

/**
 * @param {Client} client
 * @param {Manifest} manifest
 * @returns {Promise<string | undefined>} what the API server has against it
 */
async function judge(client, manifest) {
  const { apiVersion, kind, metadata } = manifest;
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  if (!resources.has(base)) {
    const answer = parseJson(await client.send('GET', base));
    const list = /** @type {{ resources: { kind: string, name: string, namespaced: boolean }[] }} */ (answer).resources;
    resources.set(
      base,
      list.filter(({ name }) => !name.includes('/')),
    );
  }
  const resource = resources.get(base)?.find((one) => one.kind === kind);
  if (resource === undefined) return `there is no such kind in ${apiVersion}`;
  const place = resource.namespaced ? `/namespaces/${NAMESPACE}` : '';
  try {
    await client.apply(`${base}${place}/${resource.name}/${metadata.name}`, manifest, { dryRun: true });
    return undefined;
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
}
