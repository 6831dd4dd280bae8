export { type AccountLoad } from './rotation/account-queue.store';
export { AccountQueues } from './rotation/account-queues.service';
export { composeJobs, type Jobs, type JobsParts } from './composition';
export { Dispatcher } from './dispatch/dispatcher';
export { type FeedItem } from './follow/stream-state';
export {
  type ClaimedAttempt,
  type Fence,
  type JobFailure,
  type JobLogRecord,
  type JobOutputRecord,
  type JobRecord,
  type JobScope,
  type NodeTiming,
} from './state/job';
export { JobAudit } from './audit/job-audit';
export { JobAuditStore } from './audit/job-audit.store';
export { LaneAudit } from './audit/lane-audit';
export { FEED_TIMING, type FeedTiming } from './follow/stream-schedule';
export { JobFeed } from './follow/job-streams';
export { JobReads, type JobRecordPage } from './follow/job-reads.service';
export { JobSignals } from './lifecycle/job-events';
export { ATTEMPT_OUTCOMES, DELIVERIES, TRANSITIONS, type AttemptOutcome, type Delivery } from './state/job-state';
export { jobSettings, type JobSettings } from './job.settings';
export { Lifecycle, type AttemptResult } from './lifecycle/lifecycle.service';
export type { OperatorJob } from './operator/operator-job.store';
export { OperatorJobs } from './operator/operator-jobs.service';
export { OutputRecorder, type OutputDraft } from './outputs/output-recorder';
export { type QueuePlace } from './rotation/queue-estimates';
export { SubmissionService, type AcceptedJob, type Submission } from './submission/submission.service';
export { WarmClaims, isWarm, type ClaimingWorker, type TakenHint } from './dispatch/warm-claims.service';
