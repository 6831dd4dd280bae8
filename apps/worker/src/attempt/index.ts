export { Attempt, type AttemptParts } from './attempt';
export { LeaseKeeper } from './lease-keeper';
export { ModelStaging, type EngineModels } from './model-staging';
