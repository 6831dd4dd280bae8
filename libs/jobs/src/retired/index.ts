export { MoveRetiredJobsLoop } from './move-retired-jobs.loop';
export { RetiredJobs } from './retired-jobs.service';
export { RetiredPoolStore } from './retired-pool.store';
