import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure } from '../command/index.mjs';
import { ROOT, runTool, writeJson } from '../system/index.mjs';
import { helmProgram } from '../testing/index.mjs';
import { COMFYUI_COMMAND, COMFYUI_IMAGE } from './comfyui-image.mjs';
import { REPOSITORY, TAGS } from './images.mjs';
import { NODE_ADDRESS } from './places.mjs';
import { BUCKET } from './servers.mjs';

/** @typedef {import('../services/fleet.mjs').Fleet} Fleet */
/** @typedef {import('./control-plane.mjs').ControlPlane} ControlPlane */
/** @typedef {import('./servers.mjs').Servers} Servers */

export const NAMESPACE = 'millrace';
export const RELEASE = 'millrace';
export const CHART = join(ROOT, 'helm', 'millrace');
/** Among them a class whose image nobody has, and one whose GPU no node has. */
export const CLASSES = { usual: 'cpu', comfyui: 'comfyui', withoutImage: 'unbuilt', withoutNode: 'large-gpu' };
/** Of models on a worker's disk: what two of those take that the test of the cache has. */
const MODEL_CACHE_BYTES = 2_500_000;
const SMALL = { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '1Gi' } };

/** Real Helm on the cluster. */
export class Helm {
  /**
   * @param {Fleet} fleet
   * @param {ControlPlane} plane
   */
  constructor(fleet, plane) {
    this.fleet = fleet;
    const home = fleet.folder.at('helm');
    mkdirSync(home, { recursive: true });
    this.values = fleet.folder.at('values.json');
    const own = { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
    this.env = { ...process.env, ...own, KUBECONFIG: plane.kubeconfig };
  }

  /** @param {Servers} servers */
  writeValues(servers) {
    writeJson(this.values, valuesOf(servers));
  }

  /**
   * @param {string[]} args
   * @returns {Promise<string>} what it printed
   * @throws {Failure} with its last words
   */
  async run(args) {
    const helm = await helmProgram(this.fleet.scope);
    const { code, output } = await runTool(this.fleet.scope, helm, ['--namespace', NAMESPACE, ...args], {
      env: this.env,
    });
    if (code === 0) return output;
    throw new Failure(`helm ${args.slice(0, 2).join(' ')} failed: ${output.trim().split('\n').slice(-5).join(' ')}`);
  }
}

/**
 * What a small machine can run: little is requested, and a drain ends.
 *
 * @param {Servers} servers
 */
function valuesOf({ relays }) {
  const peers = [{ ipBlock: { cidr: `${NODE_ADDRESS}/32` } }];
  const external = (/** @type {string} */ name, /** @type {number} */ port) => ({
    external: { existingSecret: `millrace-${name}`, port, peers },
  });
  const s3 = external('s3', relays.s3.port);
  return {
    image: { repository: REPOSITORY, tag: TAGS[0], pullPolicy: 'Never' },
    secrets: { existingSecret: 'millrace-secrets' },
    postgres: external('postgres', relays.postgres.port),
    redis: external('redis', relays.redis.port),
    s3: { bucket: BUCKET, external: { ...s3.external, endpoint: `http://${NODE_ADDRESS}:${relays.s3.port}` } },
    migrations: { mode: 'hook', resources: SMALL },
    api: { replicas: 2, resources: SMALL, drainSeconds: 5 },
    maintenance: { replicas: 1, resources: SMALL },
    fleet: {
      enabled: true,
      replicas: 2,
      resources: SMALL,
      apiServer: { peers },
      engineClasses: [
        { name: CLASSES.usual, engine: 'cpu' },
        { name: CLASSES.comfyui, engine: 'comfyui', image: COMFYUI_IMAGE },
        { name: CLASSES.withoutImage, engine: 'cpu', image: 'millrace.test/unbuilt:1' },
        { name: CLASSES.withoutNode, engine: 'cpu', gpu: { kind: 'nvidia-h200', count: 8 } },
      ],
      worker: { comfyui: comfyui() },
    },
    remoteWorkers: { enabled: true, replicas: 1, resources: SMALL },
    workerDefaults: { resources: SMALL, drainSeconds: 120 },
    networkPolicy: { opsFrom: peers },
    // For what `settings` of the whole release change for a short test.
    settings: { MILLRACE_DATABASE_POOL_SIZE: 4 },
    tests: { resources: SMALL },
  };
}

/** A ComfyUI beside a worker, and a cache of models that both see. */
function comfyui() {
  return {
    command: COMFYUI_COMMAND,
    resources: SMALL,
    shmSize: '64Mi',
    tmpSize: '64Mi',
    models: { size: '64Mi' },
    modelCache: { kind: 'emptyDir', bytes: MODEL_CACHE_BYTES },
    startSeconds: 120,
  };
}
