import { Prisma } from '@prisma/client';
import type { JobMetadata, JobStatus, RetryPolicy } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { retryPolicyOf, type JobPlace } from '../state';

/** What an operator's act on a job needs to know of it. */
export interface OperatorJob extends JobPlace {
  id: string;
  status: JobStatus;
  hasSecrets: boolean;
  spendLimitMicros: bigint | null;
  /** Which of its failures are tried again; null: none. */
  retry: RetryPolicy | null;
  apiKeyId: string | null;
  metadata: JobMetadata;
  /** The graph's text as submitted. */
  workflow: string;
}

/** The SQL of jobs as operators find them. The one reader of jobs that takes no account: it serves the admin API alone. */
export class OperatorJobStore {
  /** @returns null when there is no such job, or it has expired. */
  async find(tx: Statements, id: string): Promise<OperatorJob | null> {
    const [job] = await tx.rows<OperatorJob>(Prisma.sql`
      SELECT j.id, j.account_id, j.surface, j.deployment_id, j.status, j.has_secrets, j.spend_limit_micros, j.api_key_id,
        j.metadata, ${retryPolicyOf} AS retry, g.workflow
      FROM jobs j JOIN job_graphs g ON g.job_id = j.id
      WHERE j.id = ${id}::uuid AND j.expires_at > now()`);
    return job ?? null;
  }

  /**
   * What a key was claimed for that names a job which is gone: nothing else says whose that was. One look into an index for each account.
   *
   * @returns null when it was not claimed.
   */
  async findSubject(tx: Statements, key: string): Promise<string | null> {
    const [claim] = await tx.rows<{ subjectId: string }>(Prisma.sql`
      SELECT k.subject_id FROM accounts a CROSS JOIN LATERAL (
        SELECT k.subject_id FROM idempotency_keys k
        WHERE k.account_id = a.id AND k.operation = 'postJobs' AND k.key = ${key} AND k.expires_at > now() LIMIT 1
      ) k LIMIT 1`);
    return claim?.subjectId ?? null;
  }
}
