export { type BatchRecord } from './batch';
export { BatchStore } from './batch.store';
export { BatchSubmissions } from './batch-submissions.service';
export { Batches, type BatchJob } from './batches.service';
export { CancelBatchesLoop } from './cancel-batches.loop';
export { SweepExpiredBatchesLoop } from './sweep-expired-batches.loop';
