export { AdoptCappedJobsLoop } from './adopt-capped-jobs.loop';
export { CancelSpentJobsLoop } from './cancel-spent-jobs.loop';
