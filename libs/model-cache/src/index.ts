export { CacheFolderError } from './cache-folder';
export { MODEL_PATHS_FILE, type EngineLinks } from './engine-links';
export { ModelCache, type ModelCacheOptions } from './model-cache';
export { modelCacheSettings } from './model-cache.settings';
export { ModelUnavailable, type ModelFault } from './model-unavailable';
export { type StagingProgress } from './wanted-models';
