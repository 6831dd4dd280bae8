export { Attempt, type AttemptParts } from './attempt';
export { LeaseKeeper, type LeaseRecords } from './lease-keeper';
export { ModelStaging, type EngineModels } from './model-staging';
