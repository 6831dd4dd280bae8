export { Attempt, LAST_FREE_ATTEMPT, type AttemptParts } from './attempt';
export { endOf } from './attempt-end';
export { LeaseKeeper } from './lease-keeper';
export { ModelStaging, modelsLeft, type EngineModels } from './model-staging';
export { OutOfReach } from './out-of-reach';
export { reportEnd, type EndReport } from './report-end';
