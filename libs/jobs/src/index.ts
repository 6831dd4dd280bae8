export { JobAudit, LaneAudit } from './audit';
export {
  composeAudits,
  composeExecution,
  composeMaintenance,
  composeSubmission,
  type JobAudits,
  type JobExecution,
  type JobMaintenance,
  type JobSubmission,
  type JobsParts,
} from './composition';
export { Dispatcher, WarmClaims, isWarm, type ClaimResult, type ClaimingWorker } from './dispatch';
export { JobReads, JobStreams, STREAM_TIMING, type JobRecordPage, type StreamItem, type StreamTiming } from './follow';
export { jobSettings, type JobSettings } from './job.settings';
export { JobEvents, Lifecycle, resubmitAdvice, type AttemptResult, type ReportedEnding } from './lifecycle';
export { OperatorJobs, type OperatorJob } from './operator';
export { OutputRecorder, type OutputDraft } from './outputs';
export { AccountQueues, type AccountLoad, type QueuePlace } from './rotation';
export {
  ATTEMPT_OUTCOMES,
  DELIVERIES,
  TRANSITIONS,
  type AttemptOutcome,
  type ClaimedAttempt,
  type Delivery,
  type Fence,
  type JobFailure,
  type JobLog,
  type JobLogRecord,
  type JobOutputRecord,
  type JobRecord,
  type JobScope,
  type NodeTiming,
} from './state';
export { SubmissionService, type AcceptedJob, type Submission } from './submission';
