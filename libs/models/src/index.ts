export {
  composeLibraryNames,
  composeModelChores,
  composeModelNames,
  composeModelSource,
  composeModels,
} from './composition';
export { ModelErasureStore } from './erasure';
export { ImportOrigins } from './import';
export { MODEL_KINDS, MODEL_FORMATS } from './headers';
export {
  LibraryNames,
  MODEL_STATES,
  ModelLibrary,
  ModelLibrarySource,
  ModelNames,
  ModelUploads,
  type ListedModel,
  type Model,
  type Transact,
} from './library';
export { modelSettings } from './models.settings';
