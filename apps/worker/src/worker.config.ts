import { z } from 'zod';
import { assetSettings } from '@millrace/assets';
import { billingSettings } from '@millrace/billing';
import { databaseSettings } from '@millrace/database';
import { poolName } from '@millrace/deployments';
import { DEFAULT_BOUNDS } from '@millrace/engines';
import { jobSettings } from '@millrace/jobs';
import { messagingSettings, secretKeySetting } from '@millrace/messaging';
import { modelCacheSettings } from '@millrace/model-cache';
import { integer, processSettings, setting, type SettingsOf } from '@millrace/platform';
import { remoteSettings } from './remote.config';

/** What every worker has: its engines, and its own machine. */
const ownSettings = {
  ...processSettings,
  ...modelCacheSettings,
  engine: setting(
    'ENGINE',
    'What runs the workflows: cpu (embedded) or comfyui.',
    z.enum(['cpu', 'comfyui']).default('cpu'),
  ),
  comfyuiUrls: setting(
    'COMFYUI_URL',
    'Addresses of ComfyUI servers that only this worker uses, separated by commas, e.g. http://127.0.0.1:8188. One engine each. As it starts, it ends the runs that they have, and clears their history.',
    z
      .string()
      .transform((text) => text.split(',').map((url) => url.trim()))
      .pipe(z.array(z.url({ protocol: /^https?$/, error: 'must be http:// URLs, separated by commas' })).min(1))
      .optional(),
  ),
  comfyuiCommand: setting(
    'COMFYUI_COMMAND',
    'Command that starts a ComfyUI of this worker, e.g. "python main.py"; words are separated by spaces. Excludes MILLRACE_COMFYUI_URL.',
    z
      .string()
      .transform((text) => text.trim().split(/ +/))
      .optional(),
  ),
  comfyuiDir: setting(
    'COMFYUI_DIR',
    "ComfyUI's own folder, in which MILLRACE_COMFYUI_COMMAND runs.",
    z.string().optional(),
  ),
  comfyuiDevices: setting(
    'COMFYUI_DEVICES',
    'Numbers of the GPUs, separated by commas; each gets a ComfyUI. Unset: one, on the device that it chooses.',
    z
      .string()
      .regex(/^\d+(,\d+)*$/, 'must be numbers separated by commas, e.g. 0,1')
      .transform((text) => text.split(',').map(Number))
      .optional(),
  ),
  comfyuiArguments: setting(
    'COMFYUI_ARGUMENTS',
    'More arguments for MILLRACE_COMFYUI_COMMAND, e.g. "--cache-lru 20"; words are separated by spaces.',
    z
      .string()
      .transform((text) => text.split(' ').filter((word) => word !== ''))
      .default([]),
  ),
  comfyuiDataDir: setting(
    'COMFYUI_DATA_DIR',
    'Folder with the input, output and temp folders of the ComfyUI at MILLRACE_COMFYUI_URL, if this machine has it. Files are then copied instead of sent, and removed after each run.',
    z.string().optional(),
  ),
  comfyuiModelsDir: setting(
    'COMFYUI_MODELS_DIR',
    'Folder from which the ComfyUI at MILLRACE_COMFYUI_URL reads models of the library: its flag --extra-model-paths-config names extra_model_paths.yaml in it. On the file system of MILLRACE_MODEL_CACHE_DIR and of this worker alone, which exchanges what is in it for each run.',
    z.string().optional(),
  ),
  comfyuiRestartFile: setting(
    'COMFYUI_RESTART_FILE',
    'File that the worker makes when a run hung on the ComfyUI at MILLRACE_COMFYUI_URL. What runs that ComfyUI removes the file and restarts it. Unset: an operator restarts it.',
    z.string().optional(),
  ),
  comfyuiStartSeconds: setting(
    'COMFYUI_START_SECONDS',
    'How long ComfyUI may take to answer after its start, in seconds. It imports its node packs first.',
    integer({ min: 1, max: 3_600 }).default(DEFAULT_BOUNDS.startMs / 1000),
  ),
  comfyuiSilenceSeconds: setting(
    'COMFYUI_SILENCE_SECONDS',
    'How long a run may be silent before ComfyUI counts as hung, in seconds: longer than its slowest node that reports no steps, with the load of its model.',
    integer({ min: 1, max: 86_400 }).default(DEFAULT_BOUNDS.silenceMs / 1000),
  ),
  comfyuiUnreachableSeconds: setting(
    'COMFYUI_UNREACHABLE_SECONDS',
    'How long ComfyUI may leave every request of a run unanswered before the run is lost, in seconds.',
    integer({ min: 1, max: 3_600 }).default(DEFAULT_BOUNDS.unreachableMs / 1000),
  ),
  capacity: setting(
    'WORKER_CAPACITY',
    'Attempts that a worker with the engine cpu runs at once; each has an engine of its own.',
    integer({ min: 1, max: 64 }).default(1),
  ),
  workDir: setting(
    'WORK_DIR',
    'Folder for the files of running attempts; emptied when the worker starts, so no two workers can have the same. Unset: a folder of the worker in the temporary folder; those of workers that were killed are removed.',
    z.string().optional(),
  ),
  warmUpSeconds: setting(
    'WARM_UP_SECONDS',
    'How long the graph may run with which a deployment warms its workers up, models included, in seconds. A worker that needs longer ends.',
    integer({ min: 1, max: 3_600 }).default(300),
  ),
  prefetchSeconds: setting(
    'PREFETCH_SECONDS',
    "How long a start may wait for the models that its deployment names, in seconds; what is missing then is fetched while the worker runs. With the rest of a start it has to be less than the class's startSeconds.",
    integer({ min: 0, max: 86_400 }).default(60),
  ),
  drainSeconds: setting(
    'DRAIN_SECONDS',
    'How long a stopping worker lets its attempts run before it hands them back, in seconds.',
    integer({ min: 0, max: 86_400 }).default(20),
  ),
};
export type OwnSettings = SettingsOf<typeof ownSettings>;

/** Of a worker that reaches PostgreSQL, Redis and the blob store. */
export const workerSettings = {
  ...databaseSettings,
  ...messagingSettings,
  ...secretKeySetting,
  ...assetSettings,
  ...billingSettings,
  ...jobSettings,
  pool: setting('POOL', 'Pool that this worker serves: the shared one, or that of a deployment.', poolName),
  ...ownSettings,
};
export type WorkerSettings = SettingsOf<typeof workerSettings>;

/** Of a worker that reaches a gateway alone. */
export const remoteWorkerSettings = { ...ownSettings, ...remoteSettings };
