import { createHash } from 'node:crypto';
import { Failure, task } from '../command/index.mjs';
import { CLASSES } from './helm.mjs';
import { addModel, graphOfModel, weightsOf } from './model-library.mjs';
import { joinFromOutside, openWayToGateway } from './remote-worker.mjs';
import { SMALL_GRAPH } from './service.mjs';

/** @typedef {import('./release.mjs').Site} Site */
/** @typedef {import('./service.mjs').InstalledService} InstalledService */

/**
 * A worker with a ComfyUI beside it comes, fetches a model of the library into the pod's cache, and the ComfyUI loads it.
 *
 * @param {Site} site
 * @param {InstalledService} service
 */
export async function useModels({ scope }, service) {
  await task(scope, 'A worker with a ComfyUI beside it comes, and runs a model of the library', async () => {
    const content = weightsOf('shown', 100_000);
    await addModel(service, 'shown.safetensors', content);
    const { id, path } = await service.deploy({ engine_class: CLASSES.comfyui, min_workers: 1 });
    await service.becomes(id, 'ready', ({ ready_workers }) => ready_workers === 1);
    const job = await service.submit(graphOfModel('shown.safetensors'), path);
    const { outputs } = await service.reaches(job.id, 'succeeded', path);
    const said = await fetch(outputs[0]?.url ?? '').then((answer) => answer.text());
    const hash = createHash('sha256').update(content).digest('hex');
    if (said !== `model ${hash}`) throw new Failure(`The ComfyUI said "${said}" of a model with the hash ${hash}.`);
    await service.undeploy(id);
  });
}

/**
 * A worker that is on no node joins the pool of a deployment by the gateway, and runs its job. The deployment's class has a GPU that the
 * cluster lacks: who brings one of their own has such a deployment.
 *
 * @param {Site} site
 * @param {InstalledService} service
 * @param {import('../services/fleet.mjs').Fleet} fleet
 */
export async function workFromOutside({ scope, client }, service, fleet) {
  await task(scope, 'A worker outside the cluster joins by the gateway, and runs a job', async () => {
    const url = await openWayToGateway(fleet, client);
    const { id, path } = await service.deploy({ engine_class: CLASSES.withoutNode });
    const worker = await joinFromOutside(fleet, service, { url, pool: id });
    const job = await service.submit(SMALL_GRAPH, path);
    await service.reaches(job.id, 'succeeded', path);
    await worker.stop();
    await service.undeploy(id);
  });
}
