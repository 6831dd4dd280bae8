export { CountJobsLoop } from './count-jobs.loop';
export { ForgetGonePools } from './forget-gone-pools';
export { GonePoolStore } from './gone-pools.store';
export { JobMoveStore } from './job-move.store';
