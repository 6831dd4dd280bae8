export { NamedModels, namedModelsOf, type KeptModels } from './named-models';
export { startTimes } from './start-times';
