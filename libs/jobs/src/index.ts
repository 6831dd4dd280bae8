export { JobAudit, composeAudits } from './audit';
export {
  BatchRetries,
  BatchStreams,
  BatchSubmissions,
  type BatchStreamItem,
  Batches,
  LONGEST_RECORDING_MS,
  presentBatch,
  type BatchJob,
} from './batches';
export {
  composeExecution,
  composeMaintenance,
  composeSubmission,
  type JobExecution,
  type JobSubmission,
} from './composition';
export { WarmClaims, isWarm, type ClaimResult, type ClaimingWorker } from './dispatch';
export { JobEraser, JobErasureStore } from './erasure';
export { EXAMINATION_MS, SMALL_SUBMISSION_BYTES, SUBMISSION_REST } from './examination';
export {
  JobPolls,
  JobPresenter,
  JobReads,
  JobStreams,
  presentAttempts,
  presentLogs,
  showsLogs,
  type StreamItem,
} from './follow';
export { ACCOUNT_LABEL, AT_CAP, KEY_LABEL, LabelRules, composeLabelRules, labelLoops, type LabelRule } from './labels';
export {
  MailSpendWarningsLoop,
  SpendCaps,
  composeSpendCaps,
  type SpendCap,
  type SpendCapDraft,
  type SpendStanding,
} from './spend';
export { BEATS_PER_LEASE, jobSettings } from './job.settings';
export {
  JobEvents,
  Lifecycle,
  OVERTIME,
  REPORTED_ENDINGS,
  RemoteAttempts,
  resubmitAdvice,
  type AttemptLoss,
  type AttemptResult,
  type RemoteAttempt,
  type ReportedEnding,
} from './lifecycle';
export { JobHistories, OperatorJobs, type FailedJob, type JobHistory, type OperatorJob } from './operator';
export { OutputRecorder, OutputRefused, type OutputDraft } from './outputs';
export { AccountQueues, DeleteDrainedDeploymentsLoop, DrainedDeploymentStore, PoolDemandStore } from './rotation';
export {
  type ClaimedAttempt,
  type Fence,
  type JobFailure,
  type JobRecord,
  type JobScope,
  type NodeTiming,
  type RoomLack,
  boundedFailure,
  logTail,
} from './state';
export {
  SubmissionEstimates,
  SubmissionService,
  type AcceptedJob,
  type Sender,
  type SubmissionEstimate,
} from './submission';
export { RetiredJobs } from './retired';
export { VersionFigures, type VersionFigure } from './figures';
export { composeWebhookReaders } from './webhook-readers';
