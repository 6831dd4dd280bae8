export { WARM_UP_BYTES, warmUpText } from './warm-up';
export { phasesOf, type OwnStart, type PlacedStart, type StartPhase, type WorkerStart } from './worker-start';
export { WorkerStartStore, type PoolModels, type WarmUp } from './worker-start.store';
