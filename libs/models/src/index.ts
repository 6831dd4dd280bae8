export { composeModelChores, composeModelSource, composeModels, type ModelChores } from './composition';
export { ImportOrigins } from './import';
export { MODEL_KINDS, MODEL_FORMATS } from './headers';
export { MODEL_STATES, ModelLibrary, ModelUploads, type Model, type ModelDraft, type Transact } from './library';
export { modelSettings, type ModelSettings } from './models.settings';
