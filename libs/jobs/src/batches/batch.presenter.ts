import type { LinkBase } from '@millrace/assets';
import { JOB_STATUSES, type BatchView } from '@millrace/contracts';
import type { BatchRecord } from './batch';

/** What a batch looks like on the wire. */
export function presentBatch({ prefix }: Pick<LinkBase, 'prefix'>, batch: BatchRecord): BatchView {
  const self = `${prefix}/api/v2/batches/${batch.id}`;
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
    retry_count: batch.retries,
    refused_count: batch.itemCount - batch.jobCount,
    refused: batch.refused,
    refused_truncated: batch.refused.length < batch.itemCount - batch.jobCount,
    urls: {
      self,
      jobs: `${self}/jobs`,
      events: `${self}/events`,
      results: `${self}/results`,
      outputs: `${self}/outputs.zip`,
      cancel: `${self}/cancel`,
      retry: `${self}/retry`,
    },
  };
}
