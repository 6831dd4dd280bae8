export { SubmissionExaminer } from './submission-examiner';
export { SubmissionService, type AcceptedJob } from './submission.service';
export { SubmissionStore } from './submission.store';
export { SweepIdempotencyKeysLoop } from './sweep-idempotency-keys.loop';
