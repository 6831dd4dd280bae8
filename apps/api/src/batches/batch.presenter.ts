import { JOB_STATUSES, type BatchJobView, type BatchView } from '@millrace/contracts';
import type { BatchJob, BatchRecord, JobPresenter } from '@millrace/jobs';
import type { Visitor } from '../endpoints';

/** What a batch looks like on the wire. */
export function presentBatch({ surface }: Pick<Visitor, 'surface'>, batch: BatchRecord): BatchView {
  const self = `${surface.prefix}/api/v2/batches/${batch.id}`;
  const counts = Object.fromEntries(JOB_STATUSES.map((status) => [status, batch.counts[status] ?? 0]));
  return {
    id: batch.id,
    status: batch.completedAt === null ? 'active' : 'completed',
    created_at: batch.createdAt.toISOString(),
    completed_at: batch.completedAt?.toISOString() ?? null,
    expires_at: batch.expiresAt.toISOString(),
    item_count: batch.itemCount,
    job_count: batch.jobCount,
    counts: counts as BatchView['counts'],
    progress: batch.ended / batch.jobCount,
    ...(batch.surface === 'self_hosted' ? {} : { charged_micros: batch.chargedMicros }),
    refused_count: batch.itemCount - batch.jobCount,
    refused: batch.refused,
    urls: {
      self,
      jobs: `${self}/jobs`,
      results: `${self}/results`,
      outputs: `${self}/outputs.zip`,
      cancel: `${self}/cancel`,
    },
  };
}

/** A job of a batch, as lists show it. */
export function presentBatchJob(
  presenter: JobPresenter,
  visitor: Visitor,
  { job, place, index }: BatchJob,
): BatchJobView {
  return { ...presenter.item(visitor, job, place), batch_index: index };
}
