import { Failure, say, task } from '../command/index.mjs';
import { until } from './client.mjs';
import { CLASSES, NAMESPACE, RELEASE } from './helm.mjs';
import { LONG_GRAPH, SMALL_GRAPH } from './service.mjs';

/** @typedef {import('./release.mjs').Site} Site */
/** @typedef {import('./service.mjs').InstalledService} InstalledService */

const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;

/**
 * @param {Site} site
 * @param {string} pool
 */
async function podsOf({ client }, pool) {
  const selector = encodeURIComponent(`millrace/pool=${pool}`);
  return (await client.list(`${PODS}?labelSelector=${selector}`)).filter(({ metadata }) => !metadata.deletionTimestamp);
}

/**
 * A deployment made by the API brings its worker, runs a job, goes to zero, and comes back by the next job.
 *
 * @param {Site} site
 * @param {InstalledService} service
 */
export async function deployAndScale(site, service) {
  const { scope } = site;
  const deployment = await task(scope, 'A deployment is made by the API, and its worker comes', async () => {
    const made = await service.deploy({ engine_class: CLASSES.usual, idle_seconds: 2 });
    await service.becomes(made.id, 'ready', ({ state, ready_workers }) => state === 'ready' && ready_workers === 1);
    const { id } = await service.submit(SMALL_GRAPH, made.path);
    await service.reaches(id, 'succeeded', made.path);
    return made;
  });
  await task(scope, 'It goes to zero', () =>
    until(scope, 'No pod to be there', async () => (await podsOf(site, deployment.id)).length === 0),
  );
  await task(scope, 'The next job brings it back', async () => {
    const { id } = await service.submit(SMALL_GRAPH, deployment.path);
    await service.reaches(id, 'succeeded', deployment.path);
  });
  await task(scope, 'It is deleted, with what ran for it', async () => {
    await service.undeploy(deployment.id);
    await until(scope, 'No pod to be there', async () => (await podsOf(site, deployment.id)).length === 0);
  });
}

/**
 * What keeps a worker from coming is said to the owner of the deployment.
 *
 * @param {Site} site
 * @param {InstalledService} service
 */
export async function sayWhy({ scope }, service) {
  const cases = [
    { class: CLASSES.withoutImage, why: /image cannot be pulled: /, what: 'no image' },
    { class: CLASSES.withoutNode, why: /0\/1 nodes have the GPU$/, what: 'no node with its GPU' },
  ];
  for (const { class: name, why, what } of cases) {
    await task(scope, `A deployment whose class has ${what} says so`, async () => {
      const { id } = await service.deploy({ engine_class: name, min_workers: 1 });
      await service.becomes(id, 'explained', ({ state_reason }) => why.test(state_reason ?? ''));
      await service.undeploy(id);
    });
  }
}

/**
 * A worker that is stopped with a job lets it end.
 *
 * @param {Site} site
 * @param {InstalledService} service
 */
export async function drainBusyWorker(site, service) {
  await task(site.scope, 'A worker with a running job is drained, and the job succeeds', async () => {
    const selector = encodeURIComponent('app.kubernetes.io/component=worker,millrace/pool=default');
    const [pod] = await site.client.list(`${PODS}?labelSelector=${selector}`);
    const { id } = await service.submit(LONG_GRAPH);
    await service.reaches(id, 'running');
    // As `kubectl drain` does.
    const { name = '' } = pod?.metadata ?? {};
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: NAMESPACE } };
    await site.client.post(`${PODS}/${name}/eviction`, eviction);
    const between = await service.job(id);
    if (between.status !== 'running')
      throw new Failure(`The job was ${between.status} before the drain could be seen.`);
    await service.reaches(id, 'succeeded', '', 180_000);
    const { attempts } = /** @type {{ attempts: unknown[] }} */ (await service.admin('GET', `/jobs/${id}`));
    if (attempts.length !== 1)
      throw new Failure(`The job took ${attempts.length} attempts: it was not let run to its end.`);
  });
}

/**
 * The leading fleet process is killed while a deployment is being brought: another one leads, and nothing is started twice.
 *
 * @param {Site} site
 * @param {InstalledService} service
 */
export async function killController(site, service) {
  const { scope, client } = site;
  await task(scope, 'The fleet controller is killed in the middle, and another one goes on', async () => {
    const selector = encodeURIComponent('app.kubernetes.io/component=fleet');
    const before = await client.list(`${PODS}?labelSelector=${selector}`);
    const { id } = await service.deploy({ engine_class: CLASSES.usual, min_workers: 2, max_workers: 2 });
    await until(scope, 'The first pod to be made', async () => (await podsOf(site, id)).length > 0);
    // Without any grace: both of them, as a node that is lost takes them.
    for (const { metadata } of before) await client.delete(`${PODS}/${metadata.name}`, { gracePeriodSeconds: 0 });
    await service.becomes(id, 'ready', ({ ready_workers }) => ready_workers === 2);
    const pods = await podsOf(site, id);
    if (pods.length !== 2) throw new Failure(`There are ${pods.length} pods for two workers.`);
    await service.change(id, { min_workers: 0, idle_seconds: 0 });
    await until(scope, 'The new controller to scale it to zero', async () => (await podsOf(site, id)).length === 0);
    await service.undeploy(id);
    const { status } = await client.get(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${RELEASE}-fleet`);
    say(
      `    ${before.length} killed, ${String(/** @type {{ readyReplicas?: number }} */ (status).readyReplicas ?? 0)} ready again`,
    );
  });
}
