import { join } from 'node:path';
import { CpuEngine } from '@millrace/cpu-engine';
import { ComfyuiEngine, DEFAULT_BOUNDS, type AttachOptions, type Engine, type OwnOptions } from '@millrace/engines';
import { MODEL_PATHS_FILE, type EngineLinks, type ModelCache } from '@millrace/model-cache';
import { BootError, type Logger } from '@millrace/platform';
import type { OwnSettings } from '../worker.config';

/** With the folder for the files of attempts, which is open. */
type EngineSettings = OwnSettings & { workDir: string; logTailBytes: number };

/** The ComfyUI servers of a worker; null for the embedded engine. */
export type PlannedServers = (AttachOptions | OwnOptions)[] | null;

/** An engine, and the folder in which it finds models of the library; null where it finds none. */
export interface OpenEngine {
  engine: Engine;
  links: EngineLinks | null;
}

/**
 * What the engines of a worker are to be.
 *
 * @throws BootError when the settings do not say enough, or contradict each other.
 */
export function planEngines(settings: EngineSettings): PlannedServers {
  const { comfyuiCommand, comfyuiModelsDir, modelCacheDir } = settings;
  if (settings.engine === 'cpu') return null;
  const servers = comfyuiServers(settings);
  if (modelCacheDir !== undefined && comfyuiCommand === undefined && comfyuiModelsDir === undefined) {
    throw new BootError(
      'MILLRACE_MODEL_CACHE_DIR needs MILLRACE_COMFYUI_COMMAND, or MILLRACE_COMFYUI_MODELS_DIR: a ComfyUI that shares no folder with this worker cannot read the models that it fetches.',
    );
  }
  if (comfyuiModelsDir !== undefined && modelCacheDir === undefined) {
    throw new BootError('MILLRACE_COMFYUI_MODELS_DIR needs MILLRACE_MODEL_CACHE_DIR.');
  }
  return servers;
}

/** The engines of a worker: one per attempt that it runs at once. */
export async function openEngines(
  servers: PlannedServers,
  settings: EngineSettings,
  cache: ModelCache | null,
  logger: Logger,
): Promise<OpenEngine[]> {
  if (servers === null) {
    if (cache !== null) logger.warn('the embedded engine loads no models: none of the library are fetched');
    return Array.from({ length: settings.capacity }, () => ({ engine: new CpuEngine(), links: null }));
  }
  const onNotice = (notice: string): void => logger.warn({ engine: 'comfyui' }, notice);
  const bounds = {
    startMs: settings.comfyuiStartSeconds * 1000,
    silenceMs: settings.comfyuiSilenceSeconds * 1000,
    stuckMs: Math.min(DEFAULT_BOUNDS.stuckMs, settings.comfyuiSilenceSeconds * 1000),
    unreachableMs: settings.comfyuiUnreachableSeconds * 1000,
  };
  const { comfyuiModelsDir, logTailBytes } = settings;
  return Promise.all(
    servers.map(async (planned) => {
      const links = (await cache?.linksOfEngine(comfyuiModelsDir)) ?? null;
      const server = links === null ? planned : withModels(planned, links);
      const isLent = links === null ? undefined : (name: string): boolean => links.hasLent(name);
      return { engine: new ComfyuiEngine({ server, bounds, onNotice, logTailBytes, isLent }), links };
    }),
  );
}

/** A ComfyUI that somebody else starts is given the flag there. */
function withModels(server: AttachOptions | OwnOptions, links: EngineLinks): AttachOptions | OwnOptions {
  return server.mode === 'own' ? { ...server, modelPathsFile: join(links.path, MODEL_PATHS_FILE) } : server;
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
  const { comfyuiDataDir: dataDir, comfyuiModelsDir: modelsDir, comfyuiRestartFile: restartFile } = settings;
  const ofOnly = { COMFYUI_DATA_DIR: dataDir, COMFYUI_MODELS_DIR: modelsDir, COMFYUI_RESTART_FILE: restartFile };
  const [ofOne] = Object.entries(ofOnly).find(isGiven) ?? [];
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
