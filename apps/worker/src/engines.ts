import { join } from 'node:path';
import { ComfyuiEngine, CpuEngine, type AttachOptions, type Engine, type OwnOptions } from '@millrace/engines';
import { BootError, type Logger } from '@millrace/platform';
import type { WorkerSettings } from './worker.config';

/**
 * The engines of a worker: one per attempt that it runs at once.
 *
 * @throws BootError when the settings do not say enough, or contradict each other.
 */
export function openEngines(settings: WorkerSettings, logger: Logger): Engine[] {
  if (settings.engine === 'cpu') return Array.from({ length: settings.capacity }, () => new CpuEngine());
  const onNotice = (notice: string): void => logger.warn({ engine: 'comfyui' }, notice);
  return comfyuiServers(settings).map(
    (server) => new ComfyuiEngine({ server, onNotice, logTailBytes: settings.logTailBytes }),
  );
}

function comfyuiServers(settings: WorkerSettings): (AttachOptions | OwnOptions)[] {
  const { comfyuiCommand, comfyuiDevices, comfyuiDir, comfyuiUrls, workDir } = settings;
  if ((comfyuiUrls === undefined) === (comfyuiCommand === undefined)) {
    throw new BootError(
      'MILLRACE_ENGINE=comfyui needs exactly one of MILLRACE_COMFYUI_URL and MILLRACE_COMFYUI_COMMAND.',
    );
  }
  if (comfyuiUrls !== undefined) return comfyuiUrls.map((url) => ({ mode: 'attach', url }));
  if (comfyuiDir === undefined) throw new BootError('MILLRACE_COMFYUI_COMMAND needs MILLRACE_COMFYUI_DIR.');
  const own = (name: string): OwnOptions => ({
    mode: 'own',
    command: comfyuiCommand ?? [],
    cwd: comfyuiDir,
    dataDir: join(workDir, `comfyui-${name}`),
  });
  if (comfyuiDevices === undefined) return [own('0')];
  return comfyuiDevices.map((device) => ({ ...own(String(device)), cudaDevice: device }));
}
