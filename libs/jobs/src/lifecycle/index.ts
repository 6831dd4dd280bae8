export { ExpireOverdueJobsLoop } from './expire-overdue-jobs.loop';
export { OVERTIME, type AttemptLoss, type AttemptResult } from './job-ending';
export { JobEvents } from './job-events';
export { Lifecycle } from './lifecycle.service';
export { RecallStoppedJobsLoop } from './recall-stopped-jobs.loop';
export { RescueLostJobsLoop } from './rescue-lost-jobs.loop';
export { resubmitAdvice, type ReportedEnding } from './settlement';
export { SweepExpiredJobsLoop } from './sweep-expired-jobs.loop';
