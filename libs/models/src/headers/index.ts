export { HeaderError, MODEL_KINDS, type ModelHeader } from './model-header';
export { MODEL_FORMATS, formatOf, readHeader, type ModelFormat } from './model-format';
