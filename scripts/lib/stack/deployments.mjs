import { freePort, writeJson } from '../system/index.mjs';
import { appSpec } from './apps.mjs';

/** @typedef {import('../services/data-folder.mjs').DataFolder} DataFolder */

/** Workers of deployments, which are processes of the fleet process: their pids as it last sent them. */
export class DeploymentWorkers {
  /** @type {number[]} */
  pids = [];

  /** @param {unknown} message */
  receive(message) {
    const { workers } = /** @type {{ workers?: unknown }} */ (message);
    if (Array.isArray(workers)) this.pids = workers.map(Number);
  }
}

/**
 * The process that brings the workers of deployments, with the engine classes of a stack on one machine: `cpu`, and `comfyui`
 * where there is the address of one, or a command that starts one.
 *
 * @param {DataFolder} folder
 * @param {import('./apps.mjs').Environment} common
 * @param {DeploymentWorkers} workers
 * @returns {Promise<import('../services/service.mjs').ServiceSpec>}
 */
export async function fleetSpec(folder, common, workers) {
  const file = folder.at('engine-classes.json');
  const cpu = { name: 'cpu', engine: 'cpu', title: 'CPU', description: 'The embedded engine.' };
  const comfyui = { name: 'comfyui', engine: 'comfyui', title: 'ComfyUI', description: 'The ComfyUI of this stack.' };
  const hasComfyui = Boolean(common.MILLRACE_COMFYUI_URL || common.MILLRACE_COMFYUI_COMMAND);
  writeJson(file, { classes: hasComfyui ? [cpu, comfyui] : [cpu] });
  const spec = appSpec(folder, 'fleet', 'fleet', await freePort(), {
    MILLRACE_FLEET: 'processes',
    MILLRACE_ENGINE_CLASSES_FILE: file,
    MILLRACE_FLEET_DIR: folder.path,
    ...common,
  });
  const [term, ...kill] = spec.stopSteps;
  // Its workers stop before it does.
  const stopSteps = term ? [{ ...term, waitMs: 3 * term.waitMs }, ...kill] : kill;
  return { ...spec, stopSteps, onMessage: (message) => workers.receive(message) };
}
