export { CountJobsLoop } from './count-jobs.loop';
export { JobMoveStore } from './job-move.store';
