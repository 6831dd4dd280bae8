export { CacheFolderError } from './cache-folder';
export { MODEL_PATHS_FILE, type EngineLinks } from './engine-links';
export { ModelCache } from './model-cache';
export { modelCacheSettings } from './model-cache.settings';
export { ModelUnavailable } from './model-unavailable';
export { type Unfetched } from './prefetch';
export { sizeText, type StagingProgress } from './wanted-models';
