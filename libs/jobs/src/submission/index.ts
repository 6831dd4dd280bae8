export { GroupStore } from './group.store';
export { SMALL_SUBMISSION_BYTES, SubmissionExaminer } from './submission-examiner';
export { SubmissionGroups } from './submission-groups';
export { SubmissionService, type AcceptedJob, type RecordWithin } from './submission.service';
export { RunTimesStore } from './run-times.store';
export { SubmissionChecks } from './submission-checks';
export { SubmissionEstimates, type SubmissionEstimate } from './submission-estimates.service';
export { SubmissionStore } from './submission.store';
export { SweepIdempotencyKeysLoop } from './sweep-idempotency-keys.loop';
