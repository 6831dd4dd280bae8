import { statementPart, type StatementPart } from '@millrace/database';

/**
 * Record the end of a job for each endpoint of its account that wants to know, in the statement that ends the job: either both
 * are committed or neither. An account without endpoints costs one look into an index that has no entry.
 *
 * @param job the row as it has ended; none where it did not.
 */
export function recordJobEndPart(job: StatementPart<'id' | 'account_id' | 'status'>): StatementPart {
  return statementPart('webhook_messages_of_end')`
    INSERT INTO webhook_messages (endpoint_id, type, job_id)
    SELECT e.id, 'job.' || job.status, job.id FROM ${job} job
    JOIN webhook_endpoints e ON e.account_id = job.account_id AND e.deleted_at IS NULL
    WHERE 'job.' || job.status = ANY (e.event_types)
    ON CONFLICT (endpoint_id, job_id, type) DO NOTHING`;
}

/**
 * Record the end of batches for each endpoint of their accounts that wants to know, in the statement that records it. The message says after how many
 * retries the batch ended so: after another one it goes on, and its next end has a message of its own.
 *
 * @param batch the rows of which an end was recorded; it makes sure that each end is one of them once.
 */
export function recordBatchEndPart(batch: StatementPart<'id' | 'account_id' | 'retries'>): StatementPart {
  return statementPart('webhook_messages_of_batch')`
    INSERT INTO webhook_messages (endpoint_id, type, batch_id, data)
    SELECT e.id, 'batch.completed', batch.id, jsonb_build_object('retries', batch.retries) FROM ${batch} batch
    JOIN webhook_endpoints e ON e.account_id = batch.account_id AND e.deleted_at IS NULL
    WHERE 'batch.completed' = ANY (e.event_types)`;
}
