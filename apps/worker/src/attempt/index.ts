export { Attempt, type AttemptParts } from './attempt';
export { type EngineModels } from './model-staging';
