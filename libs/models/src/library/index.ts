export { MODEL_STATES, type Model, type Transact } from './model';
export { ModelContents } from './model-content';
export { ModelLibrary } from './model-library.service';
export { ModelLibrarySource } from './model-library-source';
export { ModelNames } from './model-names';
export { ModelUseStore } from './model-use.store';
export { ModelStore, modelColumns } from './model.store';
export { ModelUploads, contentFieldsOf } from './model-uploads.service';
export { SettleUploadsLoop } from './settle-uploads.loop';
