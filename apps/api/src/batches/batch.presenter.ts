import type { BatchJobView } from '@millrace/contracts';
import type { BatchJob, JobPresenter } from '@millrace/jobs';
import type { Visitor } from '../endpoints';

/** A job of a batch, as lists show it. */
export function presentBatchJob(
  presenter: JobPresenter,
  visitor: Visitor,
  { job, place, index }: BatchJob,
): BatchJobView {
  return { ...presenter.item(visitor, job, place), batch_index: index };
}
