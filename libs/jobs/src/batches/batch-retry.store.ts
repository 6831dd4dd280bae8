import { Prisma } from '@prisma/client';
import type { JobMetadata, RetriedStatus, RetryPolicy } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { retryPolicyOf, type JobScope } from '../state';
import { GROUP_BYTES, GROUP_JOBS } from './batch-groups';
import { isInScope } from './batch.store';

/** An ended job whose place in its batch another one may take. */
export interface RetriedJob {
  jobId: string;
  index: number;
  metadata: JobMetadata;
  /** The graph's text as submitted. */
  workflow: string;
}

/** What all jobs of a batch were submitted with. */
export interface BatchTerms {
  retry: RetryPolicy | null;
  spendLimitMicros: bigint | null;
}

/** Keys of one batch that are kept, as long as it: one costs nothing where no job has ended so. */
export const RETRY_KEYS = 1_000;

/** What is known of a key of a batch. */
export interface RetryKey {
  /** What it was sent with; null where it is new. */
  requestHash: Uint8Array | null;
  /** Whether the batch has as many keys as it may have. */
  isFull: boolean;
}

/** The SQL of trying jobs of a batch again. */
export class BatchRetryStore {
  async findKey(statements: Statements, batchId: string, key: string): Promise<RetryKey> {
    const [row] = await statements.rows<RetryKey>(Prisma.sql`
      SELECT count(*) >= ${RETRY_KEYS}::int AS is_full,
        (SELECT request_hash FROM batch_retries WHERE batch_id = ${batchId}::uuid AND idempotency_key = ${key})
      FROM batch_retries WHERE batch_id = ${batchId}::uuid`);
    return row ?? { requestHash: null, isFull: false };
  }

  /** Jobs that ended so, in the order of the batch: as many as one statement records again. @param after only those behind. */
  async page(
    statements: Statements,
    batchId: string,
    { statuses, after }: { statuses: readonly RetriedStatus[]; after: number },
  ): Promise<RetriedJob[]> {
    return statements.rows(Prisma.sql`
      SELECT p.id AS job_id, p.batch_index AS index, p.metadata, p.workflow FROM (
        SELECT j.*, g.workflow, sum(octet_length(g.workflow)) OVER place AS bytes, row_number() OVER place AS place
        FROM (
          SELECT j.id, j.batch_index, j.metadata FROM jobs j
          WHERE j.batch_id = ${batchId}::uuid AND j.batch_index > ${after} AND j.status = ANY (${statuses}::text[])
          ORDER BY j.batch_index LIMIT ${GROUP_JOBS}
        ) j JOIN job_graphs g ON g.job_id = j.id
        WINDOW place AS (ORDER BY j.batch_index)
      ) p WHERE p.bytes <= ${GROUP_BYTES} OR p.place = 1 ORDER BY p.batch_index`);
  }

  /** The graphs of jobs, by their ids. */
  async graphs(statements: Statements, jobIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await statements.rows<{ jobId: string; workflow: string }>(Prisma.sql`
      SELECT job_id, workflow FROM job_graphs WHERE job_id = ANY (${jobIds}::uuid[])`);
    return new Map(rows.map(({ jobId, workflow }) => [jobId, workflow]));
  }

  /** They came in one request, so that one of them says it of all. */
  async terms(statements: Statements, batchId: string): Promise<BatchTerms> {
    const [terms] = await statements.rows<BatchTerms>(Prisma.sql`
      SELECT j.spend_limit_micros, ${retryPolicyOf} AS retry FROM jobs j WHERE j.batch_id = ${batchId}::uuid LIMIT 1`);
    return terms ?? { retry: null, spendLimitMicros: null };
  }

  /**
   * Of requests that come at once in several processes each may find the last place: they are a few more keys than `RETRY_KEYS`.
   *
   * @returns false when the key was there, or there is no place for it: nothing is written then.
   */
  async claimKey(
    tx: Statements,
    batchId: string,
    { key, hash, jobs }: { key: string; hash: Uint8Array; jobs: number },
  ): Promise<boolean> {
    const claimed = await tx.execute(Prisma.sql`
      INSERT INTO batch_retries (batch_id, idempotency_key, request_hash, job_count)
      SELECT ${batchId}::uuid, ${key}, ${hash}::bytea, ${jobs}::int
      WHERE (SELECT count(*) FROM batch_retries WHERE batch_id = ${batchId}::uuid) < ${RETRY_KEYS}::int
      ON CONFLICT (batch_id, idempotency_key) DO NOTHING`);
    return claimed === 1;
  }

  /**
   * Lock a batch and have it go on, in the transaction that records its new jobs: others that retry or cancel it wait.
   *
   * @returns for how many seconds it can still be read; null when it cannot, or is being canceled.
   */
  async reopen(tx: Statements, scope: JobScope, id: string): Promise<number | null> {
    const [row] = await tx.rows<{ secondsLeft: number }>(Prisma.sql`
      UPDATE batches b SET retries = b.retries + 1, completed_at = NULL
      WHERE b.id = ${id}::uuid AND ${isInScope(scope)} AND NOT b.canceling
      RETURNING extract(epoch FROM b.expires_at - now())::float8 AS seconds_left`);
    return row?.secondsLeft ?? null;
  }

  /** Give up the places of ended jobs. They stay with the batch, for what they cost. @returns how many had theirs. */
  async vacate(tx: Statements, batchId: string, jobIds: readonly string[]): Promise<number> {
    return tx.execute(Prisma.sql`
      UPDATE jobs j SET batch_index = NULL
      WHERE j.batch_id = ${batchId}::uuid AND j.id = ANY (${jobIds}::uuid[]) AND j.batch_index IS NOT NULL`);
  }
}
