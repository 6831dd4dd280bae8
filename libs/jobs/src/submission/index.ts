export { draftsPart, firstRowsParts, graphsPart, jobsPart } from './drafts.store';
export { GroupStore } from './group.store';
export { SubmissionGroups } from './submission-groups';
export { SubmissionRecorder, type RecordWithin } from './submission-recorder';
export { SubmissionService, type AcceptedJob } from './submission.service';
export { RunTimesStore } from './run-times.store';
export { SubmissionChecks } from './submission-checks';
export { SubmissionEstimates, type SubmissionEstimate } from './submission-estimates.service';
export { SubmissionStore, isAssetGone } from './submission.store';
export { SweepIdempotencyKeysLoop } from './sweep-idempotency-keys.loop';
export { type Sender } from './sender';
export { draftOf, retryOf, type Submitter } from './job-draft';
export { isModelGone, useModelsOfAllPart } from './library-models.store';
export { whileModelsGo } from './while-models-go';
export {
  accountQueueFull,
  assertWithinSpendLimit,
  insufficientCredits,
  keyOfAnotherBatch,
  keyOfAnotherRetry,
  poolQueueFull,
  refusalOf,
  type SubmittedBefore,
} from './refusals';
export { type JobDraft } from './submission';
export { inputAssetsOf, type FoundReferences, type ModelNames } from './submission-checks';
