export { ImportModelsLoop } from './import-models.loop';
export { ImportOrigins } from './import-origins';
export { ImportStore } from './import.store';
export { ModelImporter } from './model-importer';
export { OriginClient } from './origin-client';
