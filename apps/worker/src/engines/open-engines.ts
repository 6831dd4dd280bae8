import { join } from 'node:path';
import { CpuEngine } from '@millrace/cpu-engine';
import { ComfyuiEngine, DEFAULT_BOUNDS, type AttachOptions, type Engine, type OwnOptions } from '@millrace/engines';
import { BootError, type Logger } from '@millrace/platform';
import type { WorkerSettings } from '../worker.config';

/** With the folder for the files of attempts, which is open. */
type EngineSettings = WorkerSettings & { workDir: string };

/**
 * The engines of a worker: one per attempt that it runs at once.
 *
 * @throws BootError when the settings do not say enough, or contradict each other.
 */
export function openEngines(settings: EngineSettings, logger: Logger): Engine[] {
  if (settings.engine === 'cpu') return Array.from({ length: settings.capacity }, () => new CpuEngine());
  const onNotice = (notice: string): void => logger.warn({ engine: 'comfyui' }, notice);
  const bounds = {
    startMs: settings.comfyuiStartSeconds * 1000,
    silenceMs: settings.comfyuiSilenceSeconds * 1000,
    stuckMs: Math.min(DEFAULT_BOUNDS.stuckMs, settings.comfyuiSilenceSeconds * 1000),
    unreachableMs: settings.comfyuiUnreachableSeconds * 1000,
  };
  const { logTailBytes } = settings;
  return comfyuiServers(settings).map((server) => new ComfyuiEngine({ server, bounds, onNotice, logTailBytes }));
}

function comfyuiServers(settings: EngineSettings): (AttachOptions | OwnOptions)[] {
  const { comfyuiCommand, comfyuiDevices, comfyuiUrls } = settings;
  if ((comfyuiUrls === undefined) === (comfyuiCommand === undefined)) {
    throw new BootError(
      'MILLRACE_ENGINE=comfyui needs exactly one of MILLRACE_COMFYUI_URL and MILLRACE_COMFYUI_COMMAND.',
    );
  }
  if (comfyuiUrls !== undefined) return attached(comfyuiUrls, settings);
  const own = ownServer(settings, comfyuiCommand ?? []);
  if (comfyuiDevices === undefined) return [own('0')];
  return comfyuiDevices.map((device) => ({ ...own(String(device)), cudaDevice: device }));
}

function attached(urls: string[], settings: EngineSettings): AttachOptions[] {
  const { comfyuiDataDir: dataDir, comfyuiRestartFile: restartFile } = settings;
  const [ofOne] = Object.entries({ COMFYUI_DATA_DIR: dataDir, COMFYUI_RESTART_FILE: restartFile }).find(isGiven) ?? [];
  if (urls.length > 1 && ofOne !== undefined) {
    throw new BootError(`MILLRACE_${ofOne} belongs to one ComfyUI: name one URL only.`);
  }
  const folders = dataDir === undefined ? undefined : foldersIn(dataDir);
  return urls.map((url) => ({ mode: 'attach', url, folders, restartFile }));
}

const isGiven = ([, value]: [string, string | undefined]): boolean => value !== undefined;

function foldersIn(dataDir: string): AttachOptions['folders'] {
  return { input: join(dataDir, 'input'), output: join(dataDir, 'output'), temp: join(dataDir, 'temp') };
}

function ownServer(settings: EngineSettings, command: string[]): (name: string) => OwnOptions {
  const { comfyuiArguments: extraArguments, comfyuiDir: cwd, workDir } = settings;
  if (cwd === undefined) throw new BootError('MILLRACE_COMFYUI_COMMAND needs MILLRACE_COMFYUI_DIR.');
  return (name) => ({ mode: 'own', command, cwd, dataDir: join(workDir, `comfyui-${name}`), extraArguments });
}
