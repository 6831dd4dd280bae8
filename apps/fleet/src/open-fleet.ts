import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubernetesFleet, NoFleet, ProcessFleet, readTemplates, serviceAccount, type Fleet } from '@millrace/fleet';
import { BootError, type SettingsOf } from '@millrace/platform';
import type { fleetSettings } from './fleet.config';

type Settings = SettingsOf<typeof fleetSettings>;

/**
 * What runs workers, as the settings say.
 *
 * @param stopMs how long a worker that is a process of this machine may take to stop.
 * @throws BootError naming the setting that is missing or wrong.
 */
export function openFleet(settings: Settings, stopMs: number): Fleet {
  if (settings.fleet === 'none') return new NoFleet();
  return settings.fleet === 'processes' ? fleetOfProcesses(settings, stopMs) : fleetOfCluster(settings);
}

/** Workers get the environment of this process: its settings are theirs. */
function fleetOfProcesses({ fleetDir }: Settings, stopMs: number): Fleet {
  const folder = fleetDir ?? join(tmpdir(), 'millrace-fleet');
  return new ProcessFleet({
    commandLine: [process.execPath, join(__dirname, 'worker.js')],
    env: process.env,
    logFolder: join(folder, 'logs'),
    workFolder: join(folder, 'work'),
    stopMs,
  });
}

/** Workers have the settings of the template that the chart has rendered. */
function fleetOfCluster(settings: Settings): Fleet {
  const { fleetTemplateDir: folder, fleetDeployment: ownDeployment } = settings;
  if (folder === undefined) throw new BootError('MILLRACE_FLEET=kubernetes needs MILLRACE_FLEET_TEMPLATE_DIR.');
  if (ownDeployment === undefined) throw new BootError('MILLRACE_FLEET=kubernetes needs MILLRACE_FLEET_DEPLOYMENT.');
  try {
    const account = serviceAccount(settings.kubernetesAccountDir, settings.kubernetesUrl ?? null, process.env);
    const { fleetGpuResource: gpuResource } = settings;
    return new KubernetesFleet({ ...account, ownDeployment, gpuResource, templates: readTemplates(folder) });
  } catch (error) {
    throw new BootError(`MILLRACE_FLEET=kubernetes does not work here: ${(error as Error).message}.`);
  }
}
