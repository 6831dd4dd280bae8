export { JobHistories } from './job-histories.service';
export { JobHistoryStore, type FailedJob, type JobHistory } from './job-history.store';
export { OperatorJobStore, type OperatorJob } from './operator-job.store';
export { OperatorJobs } from './operator-jobs.service';
