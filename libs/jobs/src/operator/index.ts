export { OperatorJobStore, type OperatorJob } from './operator-job.store';
export { OperatorJobs } from './operator-jobs.service';
