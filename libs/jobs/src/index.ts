export { type AccountLoad } from './account-queue.store';
export { AccountQueues } from './account-queues.service';
export { composeJobs, type Jobs, type JobsParts } from './composition';
export { Dispatcher } from './dispatcher';
export { type FeedItem } from './following';
export {
  type ClaimedAttempt,
  type Fence,
  type JobFailure,
  type JobLogRecord,
  type JobOutputRecord,
  type JobRecord,
  type JobScope,
  type NodeTiming,
} from './job';
export { JobAudit } from './job-audit';
export { JobAuditStore } from './job-audit.store';
export { LaneAudit } from './lane-audit';
export { FEED_TIMING, type FeedTiming } from './feed-schedule';
export { JobFeed } from './job-feed';
export { JobReads, type JobRecordPage } from './job-reads.service';
export { JobSignals } from './job-signals';
export { ATTEMPT_OUTCOMES, DELIVERIES, TRANSITIONS, type AttemptOutcome, type Delivery } from './job-state';
export { jobSettings, type JobSettings } from './job.settings';
export { Lifecycle, type AttemptResult } from './lifecycle.service';
export type { OperatorJob } from './operator-job.store';
export { OperatorJobs } from './operator-jobs.service';
export { OutputRecorder, type OutputDraft } from './output-recorder';
export { type QueuePlace } from './queue-outlook';
export { SubmissionService, type AcceptedJob, type Submission } from './submission.service';
export { WarmClaims, isWarm, type ClaimingWorker, type TakenHint } from './warm-claims.service';
