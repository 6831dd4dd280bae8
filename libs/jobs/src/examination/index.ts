export type { AssetPlace, ExaminedJob } from './examine-submission.step';
export { graphTextOf, type ExaminedItem } from './examine-batch.step';
export { ITEM_FAULTS, itemFaultOf } from './item-fault';
export {
  BATCH_REST,
  EXAMINATION_MS,
  SMALL_SUBMISSION_BYTES,
  SUBMISSION_REST,
  SubmissionExaminer,
} from './submission-examiner';
export { invalidWorkflow, refusalOfModels, unlistedNames, type KnownModels } from './faulty-graph';
export { workKeyOf } from './work-key';
