import { integer, setting } from '@millrace/platform';
import { z } from 'zod';

export const modelCacheSettings = {
  modelCacheDir: setting(
    'MODEL_CACHE_DIR',
    'Folder in which workers keep models of the library; all workers of a host may share one. Needs MILLRACE_ENGINE=comfyui and a file system with hard links. Unset: models of the library are not fetched.',
    z.string().optional(),
  ),
  modelCacheBytes: setting(
    'MODEL_CACHE_BYTES',
    'Bytes that MILLRACE_MODEL_CACHE_DIR may take; the models that were used least recently go first. The same for all workers that share it.',
    integer({ min: 1_000_000 }).default(100_000_000_000),
  ),
  modelCacheParallel: setting(
    'MODEL_CACHE_PARALLEL',
    'Pieces of a model that a worker fetches at a time.',
    integer({ min: 1, max: 32 }).default(4),
  ),
};
