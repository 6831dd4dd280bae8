import { CLASSES } from '../helm.mjs';
import { addModel, graphOfModel, weightsOf } from '../model-library.mjs';
import { joinFromOutside, openWayToGateway } from '../remote-worker.mjs';
import { SUCCESS_BURN } from './job-causes.mjs';

/** @typedef {import('./tools.mjs').AlertTools} AlertTools */

const PROTOCOL = { 'millrace-gateway-protocol': '1' };
/** Of which the cache of a pod holds two. */
const MODEL_BYTES = 1_000_000;
const MODELS = 5;

/**
 * @param {AlertTools} tools
 * @returns {Promise<{ id: string, path: string }>} a deployment with a worker that has a ComfyUI beside it, and a cache of models
 */
async function deployComfyui({ service }) {
  const deployment = await service.deploy({ engine_class: CLASSES.comfyui, min_workers: 1 });
  await service.becomes(deployment.id, 'ready', ({ ready_workers }) => ready_workers === 1);
  return deployment;
}

/**
 * Of the alerts on the fleet, on workers outside the cluster and on models.
 *
 * @type {import('./causes.mjs').Cause[]}
 */
export const FLEET_CAUSES = [
  {
    what: 'the image of a class cannot be pulled',
    raises: ['MillraceFleetStartsFail'],
    // No worker is there, which is wanted.
    mayRaise: ['MillraceDeploymentWithoutWorkers'],
    bring: async ({ service }) => {
      const { id } = await service.deploy({ engine_class: CLASSES.withoutImage, min_workers: 1 });
      return () => service.undeploy(id);
    },
  },
  {
    what: 'all fleet processes go',
    raises: ['MillraceFleetWithoutLeader'],
    bring: (tools) => tools.scale('fleet', 0),
  },
  {
    what: 'no fleet process can lead',
    raises: ['MillraceFleetWithoutLeader'],
    bring: async (tools) => {
      await tools.sql("UPDATE fleet_leases SET holder = gen_random_uuid(), expires_at = now() + interval '1 hour'");
      return () => tools.sql('UPDATE fleet_leases SET expires_at = now()');
    },
  },
  {
    what: 'the gateway cannot look up the tokens of workers outside the cluster',
    raises: ['MillraceGatewayFails'],
    // The class of its deployment has no node.
    mayRaise: ['MillraceFleetStartsFail'],
    bring: async (tools) => {
      const { service, fleet } = tools;
      const url = await openWayToGateway(fleet, tools.client);
      const { id } = await service.deploy({ engine_class: CLASSES.withoutNode });
      const worker = await joinFromOutside(fleet, service, { url, pool: id });
      const headers = { authorization: `Bearer ${worker.token}`, ...PROTOCOL };
      // As many workers would ask, of which there is one.
      const stop = tools.repeat(async () => {
        await fetch(`${url}/gateway/v1/terms`, { headers, signal: AbortSignal.timeout(5_000) });
        await new Promise((resolve) => setTimeout(resolve, 200));
      });
      await tools.sql('ALTER TABLE worker_tokens RENAME TO worker_tokens_away');
      return async () => {
        await stop();
        await tools.sql('ALTER TABLE worker_tokens_away RENAME TO worker_tokens');
        await worker.stop();
        await service.undeploy(`${id}?drain=true`);
      };
    },
  },
  {
    what: 'the bytes of a model are gone from the store',
    raises: ['MillraceModelsUnavailable'],
    // Their runs fail, and not by the fault of who sent them.
    mayRaise: [...SUCCESS_BURN, 'MillraceJobsFail'],
    bring: async (tools) => {
      const { service } = tools;
      const { id, path } = await deployComfyui(tools);
      const model = await addModel(service, 'gone.safetensors', weightsOf('gone', MODEL_BYTES));
      await tools.removeFromBucket(model.hash.replace('blake3:', ''));
      const stop = tools.repeat(async () => {
        const job = await service.submit(graphOfModel('gone.safetensors'), path);
        await service.reaches(job.id, 'failed', path, 30_000);
      });
      return async () => {
        await stop();
        await service.send('DELETE', `/platform/v1/models/${model.id}`);
        await service.undeploy(`${id}?drain=true`);
      };
    },
  },
  {
    what: 'jobs take turns at more models than a cache holds',
    raises: ['MillraceModelCacheSmall'],
    bring: async (tools) => {
      const { service } = tools;
      const { id, path } = await deployComfyui(tools);
      const names = Array.from({ length: MODELS }, (_, index) => `turn-${index}.safetensors`);
      for (const name of names) await addModel(service, name, weightsOf(name, MODEL_BYTES));
      let sent = 0;
      const stop = tools.repeat(async () => {
        sent += 1;
        const job = await service.submit(graphOfModel(names[sent % MODELS] ?? ''), path);
        await service.reaches(job.id, 'succeeded', path, 30_000);
      }, 2);
      return async () => {
        await stop();
        await service.undeploy(`${id}?drain=true`);
      };
    },
  },
];
