export { Attempt, type AttemptParts } from './attempt';
export { ModelStaging, type EngineModels } from './model-staging';
